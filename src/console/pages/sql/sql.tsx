import type { JSX, RefObject } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { useChange } from '../../data/read.ts';
import { Button } from '../../design/button.tsx';
import { Select, TextArea } from '../../design/field.tsx';
import { useAccess } from '../../session/context.tsx';
import { Page } from '../../shell/page.tsx';
import { Outcome } from './outcome.tsx';
import { resultOf } from './run-query.ts';
import { SavedQueries } from './saved-queries.tsx';
import { Views } from './views.tsx';

/** By environment: the text of the editor, kept while the tab is open. */
const drafts = new Map<string, string>();

/** The text of the editor, and how it is changed. */
function useDraft() {
  const { key } = useAccess();
  const [text, setText] = useState(drafts.get(key.id) ?? '');
  const area = useRef<HTMLTextAreaElement>(null);
  const write = (next: string): void => {
    drafts.set(key.id, next);
    setText(next);
  };
  /** In place of what is selected. */
  const insert = (part: string): void => {
    const { selectionStart = text.length, selectionEnd = text.length } = area.current ?? {};
    write(text.slice(0, selectionStart) + part + text.slice(selectionEnd));
    const cursor = selectionStart + part.length;
    // The element gets its text with the next rendering.
    setTimeout(() => {
      area.current?.focus();
      area.current?.setSelectionRange(cursor, cursor);
    });
  };
  return { text, area, write, insert };
}

export function Sql(): JSX.Element {
  const draft = useDraft();
  const [limits, setLimits] = useState<Limits>({ rows: '10000', seconds: '30' });
  const run = useChange(resultOf, { showsFailure: true });
  const start = (query: string): void => {
    if (query.trim() === '' || run.isPending) return;
    const { rows, seconds } = limits;
    run.mutate({ query, max_rows: Number(rows), timeout_s: Number(seconds) });
  };
  return (
    <Page
      title="SQL"
      about="One SELECT over the records, runs and webhooks of this environment, in the SQL of ClickHouse."
    >
      <div class="sql">
        <Editor
          {...draft}
          limits={limits}
          isRunning={run.isPending}
          onLimits={setLimits}
          onRun={() => start(draft.text)}
        />
        <div class="outcome">
          <Outcome
            asked={run.variables ?? null}
            result={run.data ?? null}
            error={run.error}
            isRunning={run.isPending}
            onExample={(query) => {
              draft.write(query);
              start(query);
            }}
          />
        </div>
        <Views onInsert={draft.insert} />
      </div>
    </Page>
  );
}

/** As the fields hold them. */
interface Limits {
  readonly rows: string;
  readonly seconds: string;
}

interface EditorProps {
  readonly text: string;
  readonly area: RefObject<HTMLTextAreaElement>;
  readonly limits: Limits;
  readonly isRunning: boolean;
  readonly write: (text: string) => void;
  readonly onLimits: (limits: Limits) => void;
  readonly onRun: () => void;
}

const isMac = navigator.userAgent.includes('Mac');

const Editor = (props: EditorProps): JSX.Element => (
  <form
    class="card padded stack"
    onSubmit={(event) => {
      event.preventDefault();
      props.onRun();
    }}
  >
    <SavedQueries text={props.text} onChoose={props.write} />
    <TextArea
      label="Query"
      rows={10}
      value={props.text}
      placeholder="SELECT model, count() FROM v_records GROUP BY model"
      area={props.area}
      onInput={props.write}
      onSubmit={props.onRun}
    />
    <div class="row limits">
      <LimitFields limits={props.limits} onChange={props.onLimits} />
      <span class="grow" />
      <span class="row">
        <kbd>{isMac ? '⌘ Enter' : 'Ctrl Enter'}</kbd>
        <Button type="submit" tone="primary" icon="play" isBusy={props.isRunning}>
          Run
        </Button>
      </span>
    </div>
  </form>
);

const rowChoices = ['1000', '10000', '100000', '1000000'].map((value) => ({
  value,
  label: Number(value).toLocaleString('en'),
}));
const timeChoices = [
  { value: '30', label: '30 s' },
  { value: '60', label: '1 min' },
  { value: '300', label: '5 min' },
];

interface LimitFieldsProps {
  readonly limits: Limits;
  readonly onChange: (limits: Limits) => void;
}

const LimitFields = ({ limits, onChange }: LimitFieldsProps): JSX.Element => (
  <>
    <Select
      label="Rows at most"
      value={limits.rows}
      choices={rowChoices}
      onChange={(rows) => onChange({ ...limits, rows })}
    />
    <Select
      label="Time at most"
      value={limits.seconds}
      choices={timeChoices}
      onChange={(seconds) => onChange({ ...limits, seconds })}
    />
  </>
);
