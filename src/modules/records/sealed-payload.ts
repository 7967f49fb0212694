/** What a sealed payload is bound to (`Vault.sealBytes`): its stream's key and the record's id. */
export function payloadContext(streamKey: string, recordId: string): string {
  return `record/${streamKey}/${encodeURIComponent(recordId)}`;
}

/** What the payloads of one command, sealed together, are bound to: their stream, and which of them is whose. */
export function blockContext(
  streamKey: string,
  { ids, ends }: { readonly ids: readonly string[]; readonly ends: readonly number[] },
): string {
  return `records/${streamKey}/${JSON.stringify([ids, ends])}`;
}
