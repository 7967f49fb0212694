import { useState } from 'preact/hooks';

let count = 0;

/** An id for an element of the component. `useId` of Preact counts from 0 again in parts that are shown later. */
export function useElementId(): string {
  const [id] = useState(() => `e${++count}`);
  return id;
}
