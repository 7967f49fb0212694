import { readdirSync, watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';
import { generatedFolders } from '../project-layout.ts';

/** Calls the listener whenever a TypeScript file below the folder is created, changed, renamed or removed. */
export class FileWatch implements Disposable {
  readonly #onChange: () => void;
  readonly #folders = new Map<string, FSWatcher>();

  constructor(root: string, onChange: () => void) {
    this.#onChange = onChange;
    this.#add(root);
  }

  /** One watcher per folder: a recursive one would also watch installed packages. */
  #add(folder: string): void {
    if (this.#folders.has(folder)) return;
    const watcher = watch(folder, (event, name) => this.#notified(folder, event, name));
    watcher.on('error', () => this.#drop(folder));
    this.#folders.set(folder, watcher);
    for (const entry of this.#entriesOf(folder)) {
      if (entry.isDirectory() && !generatedFolders.has(entry.name))
        this.#add(join(folder, entry.name));
    }
  }

  #notified(folder: string, event: string, name: string | null): void {
    if (name?.endsWith('.ts') === true) this.#onChange();
    else if (event === 'rename') this.#rescan(folder);
  }

  /** A folder appeared or disappeared, with unwatched files in it. */
  #rescan(folder: string): void {
    const before = this.#folders.size;
    for (const entry of this.#entriesOf(folder)) {
      if (entry.isDirectory() && !generatedFolders.has(entry.name))
        this.#add(join(folder, entry.name));
    }
    if (this.#folders.size !== before) this.#onChange();
  }

  #entriesOf(folder: string) {
    try {
      return readdirSync(folder, { withFileTypes: true });
    } catch {
      // It was removed again: nothing is left to watch.
      this.#drop(folder);
      return [];
    }
  }

  #drop(folder: string): void {
    this.#folders.get(folder)?.close();
    this.#folders.delete(folder);
  }

  [Symbol.dispose](): void {
    for (const folder of [...this.#folders.keys()]) this.#drop(folder);
  }
}
