import type { ComponentChild, JSX } from 'preact';
import { CopyButton } from './copy-button.tsx';

interface CodeProps {
  readonly text: string;
  /** Names the block for those who do not see it. */
  readonly label: string;
  readonly isWrapped?: boolean;
}

/** Text exactly as it is, with a button that copies it. */
export function Code({ text, label, isWrapped = false }: CodeProps): JSX.Element {
  return <Block text={text} label={label} shown={text} isWrapped={isWrapped} />;
}

interface JsonProps {
  readonly value: unknown;
  readonly label: string;
}

/** A value as indented JSON. */
export function Json({ value, label }: JsonProps): JSX.Element {
  const text = indented(value) ?? 'undefined';
  return <Block text={text} label={label} shown={colored(text)} isWrapped />;
}

/** Undefined has no JSON. */
const indented = (value: unknown): string | undefined => JSON.stringify(value, null, 2);

interface BlockProps extends CodeProps {
  readonly shown: ComponentChild | readonly ComponentChild[];
}

function Block({ text, label, shown, isWrapped = false }: BlockProps): JSX.Element {
  return (
    <div class="code-frame">
      {/* A block that scrolls can be reached with the keyboard. */}
      <pre class={isWrapped ? 'code wrap' : 'code'} tabIndex={0} role="region" aria-label={label}>
        {shown}
      </pre>
      <span class="copy">
        <CopyButton text={text} label={`Copy: ${label}`} />
      </span>
    </div>
  );
}

/** Above this length coloring costs more than it helps. */
const coloredUpTo = 60_000;

/** Indented JSON has at most one key and one value in a line. */
function colored(text: string): ComponentChild | ComponentChild[] {
  if (text.length > coloredUpTo) return text;
  return text.split('\n').map((line) => {
    const indent = line.length - line.trimStart().length;
    const content = line.slice(indent);
    const colon = content.startsWith('"') ? content.indexOf('": ') : -1;
    const key = colon === -1 ? '' : content.slice(0, colon + 1);
    const value = colon === -1 ? content : content.slice(colon + 3);
    return (
      <>
        {line.slice(0, indent)}
        {key !== '' && (
          <>
            <span class="json-key">{key}</span>
            {': '}
          </>
        )}
        <span class={classOf(value)}>{value}</span>
        {'\n'}
      </>
    );
  });
}

function classOf(value: string): string {
  if (value.startsWith('"')) return 'json-text';
  return /^[[\]{}]/.test(value) ? '' : 'json-other';
}
