import {
  openTopicView,
  type TopicView,
  type TopicViewDeps,
} from '../../../control-plane/topic-view.ts';
import { topics } from '../../../../streams/topics.ts';
import type { WebhookIn } from './events.ts';
import { IncomingStore, layout } from './incoming-store.ts';

export const incomingTopic = 'svc.webhooks-in.v1';

/** The received webhooks in the view of this node, built from `svc.webhooks-in.v1`. */
export type IncomingWebhooks = TopicView<WebhookIn, IncomingStore>;

/** Opens the view of this process and resolves when it has caught up. */
export const openIncoming = (deps: TopicViewDeps): Promise<IncomingWebhooks> =>
  openTopicView(deps, {
    topic: incomingTopic,
    keptMs: topics[incomingTopic].cleanup.retentionMs,
    layout,
    open: (database) => new IncomingStore(database),
  });
