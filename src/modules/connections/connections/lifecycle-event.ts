/** What functions can be deployed for (docs/reference/functions.md#on-event-functions). */
export type LifecycleEvent =
  'post-connection-creation' | 'validate-connection' | 'pre-connection-deletion';
