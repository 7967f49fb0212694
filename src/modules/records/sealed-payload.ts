/** What a sealed payload is bound to (`Vault.sealBytes`): its stream's key and the record's id. */
export function payloadContext(streamKey: string, recordId: string): string {
  return `record/${streamKey}/${encodeURIComponent(recordId)}`;
}
