import { ApiError } from './api-error.ts';

/**
 * Finds cursors that go in a circle, in constant memory: each cursor is compared with an earlier one, which moves up after 1,
 * 2, 4 … pages (R. P. Brent, An improved Monte Carlo factorization algorithm, 1980).
 * @param first the cursor at which the reading begins
 * @returns called with the cursor of each next page; throws ApiError `invalid_answer`
 */
export function circleFinder(first?: string): (cursor: string) => void {
  let earlier = first;
  let pages = 0;
  let span = 1;
  return (cursor) => {
    if (cursor === earlier) {
      const message = 'The pages of the list go in a circle: the service repeats a cursor.';
      throw new ApiError('invalid_answer', message);
    }
    pages += 1;
    if (pages < span) return;
    earlier = cursor;
    span *= 2;
    pages = 0;
  };
}
