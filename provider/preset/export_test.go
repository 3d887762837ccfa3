package preset

// VendorOf is vendorOf.
func VendorOf(address string) string { return vendorOf(address) }
