package secp256k1

// affine is a point that is not at infinity.
type affine struct{ x, y field }

// add sets r to p+q, which have different x, given the inverse of the difference.
func (r *affine) add(p, q *affine, inverse *field) {
	var slope, x, y field
	slope.sub(&q.y, &p.y)
	slope.mul(&slope, inverse)
	x.square(&slope)
	x.sub(&x, &p.x)
	x.sub(&x, &q.x)
	y.sub(&p.x, &x)
	y.mul(&y, &slope)
	y.sub(&y, &p.y)
	r.x, r.y = x, y
}

// extended is the point (x/zz, y/zzz) where zz³ = zzz²: https://hyperelliptic.org/EFD/g1p/auto-shortw-xyzz.html.
type extended struct{ x, y, zz, zzz field }

// add adds a point that is neither the same nor its opposite: madd-2008-s.
func (p *extended) add(q *affine) {
	var u, s, uu, uuu, v, t field
	u.mul(&q.x, &p.zz)
	s.mul(&q.y, &p.zzz)
	u.sub(&u, &p.x)
	s.sub(&s, &p.y)
	uu.square(&u)
	uuu.mul(&u, &uu)
	v.mul(&p.x, &uu)
	p.x.square(&s)
	p.x.sub(&p.x, &uuu)
	p.x.sub(&p.x, &v)
	p.x.sub(&p.x, &v)
	t.mul(&p.y, &uuu)
	v.sub(&v, &p.x)
	p.y.mul(&s, &v)
	p.y.sub(&p.y, &t)
	p.zz.mul(&p.zz, &uu)
	p.zzz.mul(&p.zzz, &uuu)
}

// affine divides by zz and zzz.
func (p *extended) affine() (q affine) {
	var i, t field
	i.inverse(&p.zzz)
	q.y.mul(&p.y, &i)
	t.mul(&p.zz, &i)
	t.square(&t)
	q.x.mul(&p.x, &t)
	return q
}
