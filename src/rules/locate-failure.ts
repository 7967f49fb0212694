import { limits } from '#kernel/limits.ts';
import type { RunFailure } from '#ports/sandbox.ts';
import { locationOf, type FailureDetail, type FailureFrame } from './failure-detail.ts';
import { sourcesOf, type BundleSources } from './source-map.ts';

/** The code that failed. */
export interface FailedCode {
  readonly bundle: string;
  /** Its name in stack traces. */
  readonly fileName: string;
  /** The entry file, for bundles of earlier releases, whose maps have no texts. */
  readonly entry: { readonly file: string; readonly source: string };
}

const excerptLines = { before: 3, after: 2 };
const lineCharsMax = 160;

/**
 * Finds the places of a failure in the user's source. Text of the sandbox is untrusted: only numbers of lines and columns, and
 * names of functions, are taken from its stack.
 */
export function locateFailure(failure: RunFailure, code: FailedCode): FailureDetail {
  const sources = sourcesOf(code.bundle);
  const framesIn = (stack: string | undefined) => framesOf(stack ?? '', code.fileName, sources);
  const causes = (failure.causes ?? []).map(({ name, message, code: errorCode, stack }) => {
    const location = locationOf({ frames: framesIn(stack) });
    return { name, message, code: errorCode ?? null, location };
  });
  const own = framesIn(failure.stack);
  const frames = own.slice(0, limits.failureFramesMax);
  const call = failure.call ?? null;
  const excerpt = excerptAt(frames[0], code, sources);
  return { name: failure.name, frames, excerpt, causes, call };
}

const frame = /^\s*at (?:async )?(?:(.+) \()?(.*):(\d{1,9}):(\d{1,9})\)?$/;

/** Without frames of the runtime. Those of code that the bundler added are left out too. */
function framesOf(stack: string, fileName: string, sources: BundleSources | null): FailureFrame[] {
  return stack.split('\n').flatMap((text) => {
    const [, name, file, line, column] = frame.exec(text) ?? [];
    if (file !== fileName) return [];
    const bundled = { file, line: Number(line), column: Number(column) };
    const place = sources === null ? bundled : sources.positionOf(bundled.line, bundled.column);
    return place === null ? [] : [{ function: nameOf(name), ...place }];
  });
}

/** V8 names a method by its object and property: `Object.exec [as run]`. */
function nameOf(name: string | undefined): string | null {
  const short = name?.replace(/ \[as .*$/, '').replace(/^(Object|exports|module)\./, '') ?? '';
  return short === '' || short === '<anonymous>' ? null : short.slice(0, 100);
}

function excerptAt(
  at: FailureFrame | undefined,
  { entry }: FailedCode,
  sources: BundleSources | null,
): FailureDetail['excerpt'] {
  if (at === undefined || sources === null) return null;
  const lines =
    sources.linesOf(at.file) ?? (at.file === entry.file ? entry.source.split(/\r?\n/) : null);
  // The source of an entry may be of a later deployment than a bundle that has no texts.
  if (lines === null || at.line > lines.length) return null;
  const first = Math.max(1, at.line - excerptLines.before);
  const shown = lines.slice(first - 1, at.line + excerptLines.after);
  while (shown.length > at.line - first + 1 && shown.at(-1)?.trim() === '') shown.pop();
  return {
    line: first,
    lines: shown.map((text) => (text.length > lineCharsMax ? text.slice(0, lineCharsMax) : text)),
  };
}
