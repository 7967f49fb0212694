import { redactText } from './redact.ts';

/** Bytes of an error's text on a public topic (docs/reference/topics.md#svcrunsv1). */
const messageBytesMax = 2048;

/**
 * An error's text for a public topic: cut to 2 KiB, without anything that looks like a credential, because
 * providers often repeat tokens in responses.
 */
export function scrub(message: string): string {
  const clean = redactText(message);
  const bytes = Buffer.from(clean);
  if (bytes.length <= messageBytesMax) return clean;
  return `${bytes
    .subarray(0, messageBytesMax - 16)
    .toString('utf8')
    .replace(/\uFFFD{1,3}$/, '')}…`;
}
