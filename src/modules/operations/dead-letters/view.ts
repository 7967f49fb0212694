import { deadLettersTopic } from '../../../control-plane/message-codec.ts';
import {
  openTopicView,
  type TopicView,
  type TopicViewDeps,
} from '../../../control-plane/topic-view.ts';
import type { DeadLetterValue } from '../../../../streams/dead-letters/events.ts';
import { topics } from '../../../../streams/topics.ts';
import { DeadLetterStore, deadLetterTables } from './view-store.ts';

/** The dead letters in the view of this node, and their messages. */
export type DeadLetters = TopicView<DeadLetterValue, DeadLetterStore>;

/** Opens the view of this process and resolves when it has caught up. */
export const openDeadLetters = (deps: TopicViewDeps): Promise<DeadLetters> =>
  openTopicView(deps, {
    topic: deadLettersTopic,
    keptMs: topics[deadLettersTopic].cleanup.retentionMs,
    layout: deadLetterTables,
    open: (database) => new DeadLetterStore(database),
  });
