/** What an opened operation shows beside its tables: a program in each language, and the form that sends it. */
import {
  languages,
  sampleRequest,
  type ApiDocument,
  type ApiOperation,
} from './request-samples.ts';
import { tryForm } from './try-request.ts';

type Language = keyof typeof languages;

/** The language that was chosen last, for all operations. */
let chosen: Language = 'curl';

/** A button for each choice, of which one is pressed. */
function choiceOf<T extends string>(
  names: readonly T[],
  label: string,
  { initial, choose }: { readonly initial: T; readonly choose: (name: T) => void },
): HTMLElement {
  const row = document.createElement('div');
  row.className = 'choice';
  row.setAttribute('role', 'group');
  row.setAttribute('aria-label', label);
  const buttons = names.map((name) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = name;
    button.setAttribute('aria-pressed', String(name === initial));
    button.addEventListener('click', () => {
      for (const one of buttons) one.setAttribute('aria-pressed', String(one === button));
      choose(name);
    });
    return button;
  });
  row.append(...buttons);
  return row;
}

const tryIt = 'Try it';

/**
 * @param base address of the gateway that serves the page; null: the page is served by none
 */
function samplesOf(
  method: string,
  path: string,
  { operation, base }: { readonly operation: ApiOperation; readonly base: URL | null },
): HTMLElement {
  const section = document.createElement('div');
  section.className = 'samples';
  const request = sampleRequest(method, path, operation);
  const program = document.createElement('pre');
  program.tabIndex = 0;
  const code = document.createElement('code');
  program.append(code);
  const isStream = Object.values(operation.responses).some(
    ({ content }) => content !== undefined && 'text/event-stream' in content,
  );
  const form = base === null || isStream ? null : tryForm(method, path, { operation, base });
  const choose = (name: Language | typeof tryIt): void => {
    const isForm = name === tryIt;
    program.hidden = isForm;
    if (form !== null) form.hidden = !isForm;
    if (isForm) return;
    chosen = name;
    code.textContent = languages[name](request);
  };
  const names = Object.keys(languages) as Language[];
  const choices = form === null ? names : [...names, tryIt as typeof tryIt];
  section.append(choiceOf(choices, 'Sample', { initial: chosen, choose }), program);
  if (form !== null) section.append(form);
  choose(chosen);
  return section;
}

/** Adds the samples of each operation when it is opened, from the document that is loaded then. */
export function connectSamples(
  operations: readonly HTMLDetailsElement[],
  { documentUrl, base }: { readonly documentUrl: URL; readonly base: URL | null },
): void {
  let loading: Promise<ApiDocument> | null = null;
  const add = async (details: HTMLDetailsElement): Promise<void> => {
    loading ??= fetch(documentUrl).then(async (response) => (await response.json()) as ApiDocument);
    const found = Object.entries((await loading).paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, operation]) => operation.operationId === details.id)
        .map(([method, operation]) => samplesOf(method, path, { operation, base })),
    );
    details.querySelector('summary')?.after(...found);
  };
  for (const details of operations) {
    details.addEventListener('toggle', () => {
      if (!details.open || details.querySelector('.samples') !== null) return;
      // Without the document the tables are read alone.
      void add(details).catch(() => (loading = null));
    });
  }
}
