import type { IconName } from '../design/icon.tsx';

/** What the search can open. */
export interface Target {
  readonly id: string;
  readonly group: string;
  readonly label: string;
  /** By what people distinguish it from others of the same name. */
  readonly detail?: string;
  readonly icon: IconName;
  readonly href: string;
  /** Whether it is no page of the console, and opens in another tab. */
  readonly isOutside?: true;
}
