import { routesWith } from '#http/define-route.ts';
import type { WebhooksServices } from '#modules/webhooks/services.ts';
import type { Mailer } from '#ports/mailer.ts';
import type { ProjectionTables } from '#streams/projector/define.ts';
import type { DeadLetters } from './dead-letters/view.ts';

export interface OperationsServices extends WebhooksServices {
  readonly deadLetters: DeadLetters;
  /** Null: the operator has set no mail server. */
  readonly mailer: Mailer | null;
  /** The demo provider; null in every gateway that others can reach. */
  readonly demo: { readonly clientSecret: string } | null;
  /** Every projection of the service. */
  readonly projections: readonly ProjectionTables[];
  /** The metrics of all threads as one text. */
  scrape(): Promise<{ readonly text: string; readonly mediaType: string }>;
  /** Reasons why this node is not ready; empty = ready. */
  readiness(): readonly string[];
}

export const defineRoute = routesWith<OperationsServices>();
