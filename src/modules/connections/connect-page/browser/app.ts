import type { Language, Translate } from '#modules/access/connect-ui/texts/translate.ts';
import type { ConnectResult, ConnectApi, Failure, Integration, Session } from './api.ts';
import type { FlowNotice } from './flow.ts';
import type { Host } from './host.ts';

/** The context of every view. */
export interface App {
  readonly api: ConnectApi;
  readonly host: Host;
  readonly session: Session;
  readonly integrations: readonly Integration[];
  /** Opened on first use, and again after it has ended. */
  notice(): FlowNotice;
  /** Replaces the current view and moves the focus to its heading. */
  show(view: View): void;
  /** Announces it to screen readers. */
  say(text: string): void;
  readonly go: Navigation;
}

/** Navigates between views. */
export interface Navigation {
  list(): void;
  form(integration: Integration): void;
  connected(integration: Integration, result: ConnectResult): void;
  /** An error that ends the page. */
  failed(failure: Failure): void;
}

/** The present language; passed to each drawing of the view. */
export interface PageLanguage {
  readonly language: Language;
  readonly t: Translate;
}

/** Draws a page; the input of the user is kept outside, because a change of language redraws it. */
export type View = (language: PageLanguage) => Promise<ViewContent>;

export interface ViewContent {
  readonly title: string;
  readonly content: readonly Node[];
  /** Above the title. */
  readonly logo?: Node;
  readonly onBack?: () => void;
  /** Gets the focus instead of the heading. */
  readonly focus?: HTMLElement;
}
