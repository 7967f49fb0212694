import type { CallbackOutcome } from './callback-outcome.ts';

/** What a tab keeps while the person is at the provider, or reloads; gone when the tab is closed. */
export interface TabState {
  readonly token: string | null;
  readonly language: string | null;
  readonly theme: string | null;
  /** Of the page that opened this one; its events go there only. */
  readonly parentOrigin: string | null;
}

/** A flow that left this tab for the provider. */
export interface LeftFor {
  readonly integrationKey: string;
}

const stateKey = 'svc-connect';
const leftKey = 'svc-connect-left';
const outcomeKey = 'svc-connect-outcome';

/** A browser may refuse storage to a framed page: it then lives without. */
function read(key: string): unknown {
  try {
    const text = sessionStorage.getItem(key);
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

function write(key: string, value: unknown): boolean {
  try {
    if (value === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

export const readTabState = (): TabState | null => read(stateKey) as TabState | null;
export const keepTabState = (state: TabState): void => void write(stateKey, state);
export const forgetTab = (): void => {
  for (const key of [stateKey, leftKey, outcomeKey]) write(key, null);
};

/** False where the tab could not find back to the page. */
export const noteLeaving = (left: LeftFor): boolean => write(leftKey, left);
export const hasLeft = (): boolean => read(leftKey) !== null;
export const keepOutcome = (outcome: CallbackOutcome): void => void write(outcomeKey, outcome);

/** The flow that this tab left for, with what came of it (null: it came back without an answer); once. */
export function takeReturn(): { left: LeftFor; outcome: CallbackOutcome | null } | null {
  const left = read(leftKey) as LeftFor | null;
  const outcome = read(outcomeKey) as CallbackOutcome | null;
  write(leftKey, null);
  write(outcomeKey, null);
  return left === null ? null : { left, outcome };
}
