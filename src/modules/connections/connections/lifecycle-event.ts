/** The events for which functions can be deployed (docs/reference/functions.md#on-event-functions). */
export type LifecycleEvent =
  | 'post-connection-creation'
  | 'validate-connection'
  | 'pre-connection-deletion';
