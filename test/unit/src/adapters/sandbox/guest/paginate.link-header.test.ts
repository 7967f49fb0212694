import { expect, it } from 'vitest';
import { linkTarget } from '#adapters/sandbox/guest/paginate.ts';

it.each([
  ['<https://a.test/2>; rel="next"', 'https://a.test/2'],
  ['<https://a.test/2>; rel="NEXT"', 'https://a.test/2'],
  ['<https://a.test/2>; REL=next', 'https://a.test/2'],
  ['<https://a.test/2>;rel=next;', 'https://a.test/2'],
  ['< /2 > ; rel = "next"', '/2'],
  ['</1>; rel="prev", </2>; rel="last next"', '/2'],
  ['</1>; rel="nextpage", </2>; rel="a\tnext"', '/2'],
  ['</a,b;c>; rel="prev", </2,3?x=;>; rel="next"', '/2,3?x=;'],
  ['</1>; title="a, <b>; rel=\\"next\\""; rel="prev", </2>; rel="next"', '/2'],
  ['</1>; title="a\\\\"; rel="next"', '/1'],
  ['</2>; crossorigin; rel="next"', '/2'],
  ['</2>; crossorigin=; rel="next"', '/2'],
  ['</2>; rel=next; rel="prev"', '/2'],
  ['</1>; rel="prev"; rel="next", </2>; rel="next"', '/2'],
  [', ,</2>; rel="next",,', '/2'],
  ['garbage; rel="next", </2>; rel="next"', '/2'],
  ['</1>; x="</3>; rel=next", </2>; rel="next"', '/2'],
  ['</2>; rel="n\\ext"', '/2'],
  ["</2>; title*=UTF-8''next%20one; rel=next", '/2'],
  ['<?page=2>; rel="next"', '?page=2'],
  ['</1>; rel="previous"; results="false", </2>; rel="next"; results="true"', '/2'],
  ['</1>; rel="previous"; results="true", </2>; rel="next"; results="false"', undefined],
  ['', undefined],
  ['</2>', undefined],
  ['</2>; rel', undefined],
  ['</2>; rev="next"', undefined],
  ['</1>; rel="prev"', undefined],
])('the next link of %j is %j', (header, target) => {
  expect(linkTarget(header, 'next')).toBe(target);
});
