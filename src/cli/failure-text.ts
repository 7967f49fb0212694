import { printable } from '#kernel/printable.ts';
import { frameText } from '#rules/caller-error.ts';
import type { ShownFailure } from '#rules/failure-detail.ts';
import { markBelow } from './compiler/code-frame.ts';
import type { Output } from './output.ts';

/** Characters of a provider's response on the screen. */
const bodyCharsMax = 500;

/** Where a function failed, its lines, the calls that led there, its causes, and the request that failed. */
export function failureLines(failure: ShownFailure, paint: Output['paint']): string[] {
  const { frames, causes, call } = failure;
  const [first, ...callers] = frames;
  const place = first === undefined ? [] : [paint('bold', frameText(first))];
  const calledBy = callers.map((frame) => paint('gray', frameText(frame)));
  const request = call === null ? [] : ['', ...requestLines(call)];
  return [
    ...place,
    ...excerptLines(failure, paint),
    ...calledBy,
    ...causes.map(causeLine),
    ...request,
  ];
}

function excerptLines({ excerpt, frames }: ShownFailure, paint: Output['paint']): string[] {
  const [at] = frames;
  if (excerpt === null || at === undefined) return [];
  const width = String(excerpt.line + excerpt.lines.length - 1).length;
  const lines = excerpt.lines.flatMap((text, n) => {
    const number = excerpt.line + n;
    const isMeant = number === at.line;
    const line = `${isMeant ? '>' : ' '} ${String(number).padStart(width)} | ${text}`.trimEnd();
    if (!isMeant) return [paint('gray', line)];
    const mark = at.column > text.length ? [] : [`  ${markBelow(text, at.column, 1, width)}`];
    return [line, ...mark.map((one) => paint('red', one))];
  });
  return ['', ...lines, ''];
}

function causeLine({ name, message, code, location }: ShownFailure['causes'][number]): string {
  const where = location === null ? '' : `, at ${location}`;
  return `caused by ${name}: ${printable(message)}${code === null ? '' : ` (${code})`}${where}`;
}

function requestLines({ method, url, status, code, body }: NonNullable<ShownFailure['call']>) {
  const outcome = status === null ? `no response (${code ?? 'unknown'})` : `answered ${status}`;
  const cut = body !== null && body.length > bodyCharsMax;
  const shown = cut ? `${body.slice(0, bodyCharsMax)}…` : body;
  return [
    `${method} ${printable(url)} ${outcome}`,
    ...(shown === null ? [] : [`  ${printable(shown)}`]),
  ];
}
