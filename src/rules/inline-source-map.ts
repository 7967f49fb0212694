/** Begins the inline source map of a bundle. */
export const mapMark = '\n//# sourceMappingURL=data:application/json;base64,';

/** Where the inline source map begins; -1 without one. Nothing but the map follows its mark. */
export function mapStart(bundle: string): number {
  const at = bundle.lastIndexOf(mapMark);
  if (at === -1) return -1;
  const end = bundle.indexOf('\n', at + mapMark.length);
  return end === -1 || end >= bundle.trimEnd().length ? at : -1;
}

/** The bundle without its inline source map, which only a reader of its failures needs. */
export function withoutSourceMap(bundle: string): string {
  const at = mapStart(bundle);
  return at === -1 ? bundle : bundle.slice(0, at + 1);
}
