import type { JSX } from 'preact';
import { Code } from '../../design/code.tsx';
import { Notice } from '../../design/states.tsx';
import type { RunDetail } from './run-detail.ts';

type Failure = NonNullable<RunDetail['failure']>;

/** Address of the entry of the timeline that is the failed request. */
export const failedCallId = 'failed-call';

/** Why the run failed: message and place, lines of the source, causes, the failed request, and what to do. */
export function RunFailure({ run }: { readonly run: RunDetail }): JSX.Element | null {
  const { error, failure } = run;
  if (error === null) return null;
  return (
    <Notice tone="bad">
      <p>
        {failure !== null && <b>{failure.name}: </b>}
        {error.message}
      </p>
      <p class="mono">
        {error.code}
        {error.location !== null && ` at ${error.location}`}
      </p>
      {failure?.excerpt != null && <Code text={excerptText(failure)} label="Source" />}
      {failure !== null && failure.frames.length > 1 && (
        <p class="mono">called by {failure.frames.slice(1).map(callerText).join(', called by ')}</p>
      )}
      {failure?.causes.map((cause, index) => (
        <p key={index}>
          Caused by <b>{cause.name}</b>: {cause.message}
          {cause.location !== null && <span class="mono"> at {cause.location}</span>}
        </p>
      ))}
      {failure?.call != null && (
        <FailedCall call={failure.call} hasEntry={failedEntry(run) !== null} />
      )}
      <p>
        <b>What to do:</b> {error.fix}
      </p>
    </Notice>
  );
}

interface FailedCallProps {
  readonly call: NonNullable<Failure['call']>;
  readonly hasEntry: boolean;
}

function FailedCall({ call, hasEntry }: FailedCallProps): JSX.Element {
  const { method, url, status, code, body } = call;
  return (
    <>
      <p>
        The provider{' '}
        {status === null ? `did not answer (${code ?? 'unknown'})` : `answered ${status}`} to{' '}
        <span class="mono">
          {method} {url}
        </span>
        {hasEntry && (
          <>
            . <a href={`#${failedCallId}`}>The request in the timeline</a>
          </>
        )}
      </p>
      {body !== null && <Code text={body} label="Response of the provider" isWrapped />}
    </>
  );
}

/** The lines with their numbers, and marks beside and below the place. */
function excerptText({ excerpt, frames }: Failure): string {
  const [at] = frames;
  if (excerpt === null || at === undefined) return '';
  const width = String(excerpt.line + excerpt.lines.length - 1).length;
  return excerpt.lines
    .flatMap((text, index) => {
      const number = excerpt.line + index;
      const line = `${number === at.line ? '>' : ' '} ${String(number).padStart(width)} | ${text}`;
      if (number !== at.line || at.column > text.length) return [line];
      // Tabs stay tabs, so that the mark is below its column.
      const before = text.slice(0, at.column - 1).replaceAll(/[^\t]/g, ' ');
      return [line, `  ${' '.repeat(width)} | ${before}^`];
    })
    .join('\n');
}

const callerText = ({ function: name, file, line, column }: Failure['frames'][number]): string =>
  `${name ?? 'function'} (${file}:${line}:${column})`;

/** The last request of the timeline that is the failed one; null where it is not there. */
export function failedEntry({ failure, timeline }: RunDetail): number | null {
  const call = failure?.call;
  if (call == null || !URL.canParse(call.url)) return null;
  const { pathname } = new URL(call.url);
  const index = timeline.findLastIndex(
    ({ method, status, path }) =>
      method === call.method && (status ?? null) === call.status && path === pathname,
  );
  return index === -1 ? null : index;
}
