import type { Connected, ConnectApi, Failure, Integration, Session } from './api.ts';
import type { FlowNotice } from './flow.ts';
import type { Host } from './host.ts';
import type { Language, Translate } from '../../../access/connect-ui/texts/translate.ts';

/** What every view works with. */
export interface App {
  readonly api: ConnectApi;
  readonly host: Host;
  readonly session: Session;
  readonly integrations: readonly Integration[];
  /** Opened when it is first asked for, and again when it has ended. */
  notice(): FlowNotice;
  /** Puts a view in place of the present one and moves the focus to its heading. */
  show(view: View): void;
  /** Says it to those who do not see the page change. */
  say(text: string): void;
  readonly go: Ways;
}

/** From one view to another. */
export interface Ways {
  list(): void;
  form(integration: Integration): void;
  connected(integration: Integration, connected: Connected): void;
  /** Nothing on the page can go on. */
  failed(failure: Failure): void;
}

/** The present language; passed to each drawing of the view. */
export interface Spoken {
  readonly language: Language;
  readonly t: Translate;
}

/** Draws a page; keeps what the person has entered outside, since it is drawn again in another language. */
export type View = (spoken: Spoken) => Promise<ViewContent>;

export interface ViewContent {
  readonly title: string;
  readonly content: readonly Node[];
  /** Above the title. */
  readonly logo?: Node;
  readonly onBack?: () => void;
  /** Gets the focus in place of the heading. */
  readonly focus?: HTMLElement;
}
