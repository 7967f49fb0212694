import type { AddedTopics } from '#modules/operations/topics/catalogue.ts';
import { alertDestinations } from './alert-destinations/extension.ts';
import { alerts } from './alerts/extension.ts';
import { changes } from './changes/extension.ts';
import { consolePage } from './console-page/extension.ts';
import { demo } from './demo/extension.ts';
import { docsSite } from './docs-site/extension.ts';
import type { Extension } from './extension.ts';
import { sql } from './sql/extension.ts';
import { typedTopics } from './typed-topics/extension.ts';

/** The optional parts of the service. Without its line here, a part is left out. */
export const extensions: readonly Extension[] = [
  demo,
  typedTopics,
  changes,
  sql,
  alertDestinations,
  alerts,
  consolePage,
  docsSite,
];

export const addedTopics: readonly AddedTopics[] = extensions.flatMap(({ topics }) => topics ?? []);
