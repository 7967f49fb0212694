import { decodeCursor } from '#modules/records/model/cursor.ts';

export interface ScannedPage {
  readonly records: readonly {
    readonly id: string;
    readonly _svc_metadata: { readonly cursor: string };
  }[];
  readonly next_cursor: string | null;
}

/** What of records a scan asks for: of the same question, what one scan has seen another must see. */
export interface Scan {
  readonly question: string;
  /** Records that are there and match from before the scan till after it. */
  readonly wanted: readonly string[];
  /** Pages after which a scan that has all of them need not go on to the end: they may move faster than it reads. */
  readonly pagesMax: number;
  readonly page: (cursor: string | null) => Promise<ScannedPage>;
}

export interface Scanned {
  readonly pages: number;
  /** Ended before a change that could be read when the last page was asked for. */
  readonly isEarly: boolean;
  readonly missed: readonly string[];
}

/** Judges scans beside writers by what docs/records.md says of them. */
export class ScanJudge {
  /** By question, the last position of a wanted record on any page: others may be purged, or match no more. */
  readonly #shown = new Map<string, number>();

  async scan({ question, wanted, pagesMax, page }: Scan): Promise<Scanned> {
    const missing = new Set(wanted);
    const isWanted = new Set(wanted);
    const shown = () => this.#shown.get(question) ?? 0;
    let cursor: string | null = null;
    let position = 0;
    let isEarly = false;
    let pages = 0;
    do {
      const before = shown();
      const { records, next_cursor: next } = await page(cursor);
      pages += 1;
      for (const { id, _svc_metadata: metadata } of records) {
        missing.delete(id);
        ({ position } = decodeCursor(metadata.cursor));
        if (isWanted.has(id)) this.#shown.set(question, Math.max(shown(), position));
      }
      cursor = next;
      // What was shown there has moved on, if anything, and lies after it.
      isEarly = cursor === null && position < before;
    } while (cursor !== null && (missing.size > 0 || pages < pagesMax));
    return { pages, isEarly, missed: [...missing] };
  }
}
