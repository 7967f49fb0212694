import { limits } from '#kernel/limits.ts';
import type { EntryPoint, RunFailure } from '#ports/sandbox.ts';
import { locationOf, type FailureDetail, type FailureFrame } from './failure-detail.ts';
import { sourcesOf, type BundleSources } from './source-map.ts';

/** The code that failed. */
export interface FailedCode {
  readonly bundle: string;
  /** Its name in stack traces. */
  readonly fileName: string;
  /** The entry file, for bundles of earlier releases, whose maps have no texts. */
  readonly entry: { readonly file: string; readonly source: string };
  /** Default: `exec`. */
  readonly called?: EntryPoint;
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
  const frames =
    own.length === 0
      ? declaredFrames(failure, code, sources)
      : own.slice(0, limits.failureFramesMax);
  const call = failure.call ?? null;
  const excerpt = excerptAt(frames[0], code, sources);
  return { name: failure.name, frames, excerpt, causes, call };
}

/**
 * A run that was ended by force, and a value that fits no schema, have no stack: their place is the part of the
 * definition in the entry file.
 */
function declaredFrames(
  { kind, code: errorCode }: RunFailure,
  code: FailedCode,
  sources: BundleSources | null,
): FailureFrame[] {
  const part = partOf(kind, errorCode, code.called ?? 'exec');
  if (part === null) return [];
  const { file } = code.entry;
  const lines = linesOf(file, code, sources) ?? [];
  const index = lines.findIndex((text) => declared.exec(text)?.[2] === part);
  const column = (declared.exec(lines[index] ?? '')?.[1]?.length ?? 0) + 1;
  return index < 0 ? [] : [{ function: null, file, line: index + 1, column }];
}

/** A part of a definition, behind what indents it. */
const declared = /^(\s*(?:async )?)(exec|onWebhook|input|output) ?[:(,]/;

const endedByForce = new Set<RunFailure['kind']>(['timeout', 'memory', 'limit']);
const partOfCode: Readonly<Record<string, string>> = {
  invalid_action_input: 'input',
  invalid_action_output: 'output',
};

function partOf(
  kind: RunFailure['kind'],
  code: string | undefined,
  called: EntryPoint,
): string | null {
  if (endedByForce.has(kind)) return called;
  if (kind === 'output_too_large') return 'output';
  return kind === 'invalid' ? (partOfCode[code ?? ''] ?? null) : null;
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

const linesOf = (
  file: string,
  { entry }: FailedCode,
  sources: BundleSources | null,
): readonly string[] | null =>
  sources?.linesOf(file) ?? (file === entry.file ? entry.source.split(/\r?\n/) : null);

function excerptAt(
  at: FailureFrame | undefined,
  code: FailedCode,
  sources: BundleSources | null,
): FailureDetail['excerpt'] {
  if (at === undefined || sources === null) return null;
  const lines = linesOf(at.file, code, sources);
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
