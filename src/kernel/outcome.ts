/** What a reactor says of one event; the runner of reactors commits, retries, parks and measures. */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'skip'; readonly reason: string }
  | { readonly kind: 'retry'; readonly reason: string; readonly afterMs: number }
  | { readonly kind: 'park'; readonly reason: string };

export const done = (): Outcome => ({ kind: 'done' });
export const skip = (reason: string): Outcome => ({ kind: 'skip', reason });
export const retry = (reason: string, { afterMs }: { afterMs: number }): Outcome => ({
  kind: 'retry',
  reason,
  afterMs,
});
export const park = (reason: string): Outcome => ({ kind: 'park', reason });
