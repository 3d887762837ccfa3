package provider

import "github.com/handwire/handwire/wire"

// sizeOf returns about as many bytes as the body of r will have, so that it need
// not grow while it is written.
func sizeOf(r *wire.Request) int {
	if r == nil {
		return 0
	}
	n := 384 + partsSize(r.System)
	for i := range r.Tools {
		t := &r.Tools[i]
		n += 128 + len(t.Name) + len(t.Description) + len(t.Schema) + len(t.Grammar) + len(t.Vendor)
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		n += 64 + len(m.Vendor) + partsSize(m.Parts)
	}
	for i := range r.Extra {
		n += 8 + len(r.Extra[i].Name) + len(r.Extra[i].Raw)
	}
	return n + n/16 // what is escaped
}

func partsSize(parts []wire.Part) int {
	n := 0
	for i := range parts {
		p := &parts[i]
		n += 64 + len(p.Text) + len(p.ID) + len(p.Name) + len(p.Args) + len(p.Vendor)
		if p.Media != nil {
			n += 64 + (len(p.Media.Data)+2)/3*4 + len(p.Media.URL)
		}
		for j := range p.Parts { // of a result, which holds no results
			q := &p.Parts[j]
			n += 64 + len(q.Text) + len(q.Vendor)
			if q.Media != nil {
				n += 64 + (len(q.Media.Data)+2)/3*4 + len(q.Media.URL)
			}
		}
	}
	return n
}
