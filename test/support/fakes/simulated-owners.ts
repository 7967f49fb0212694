import type { Random } from '../judges/random.ts';
import type { RecordsWorld, RunningOwners } from '../worlds/records.ts';

/** Chance of each fault point to be the last one its process comes by. */
const crashPercent = 2;

/** One process after the other owns the partitions: each dies at a fault point, or is taken over from. */
export class SimulatedOwners implements AsyncDisposable {
  readonly #world: RecordsWorld;
  readonly #random: Random;
  readonly #all: Promise<RunningOwners>[] = [];
  #isEnding = false;
  #crashes = 0;

  constructor(world: RecordsWorld, random: Random) {
    this.#world = world;
    this.#random = random;
  }

  async start(): Promise<void> {
    const client = this.#world.log.client();
    const faultPoint = (name: string): void => {
      if (this.#isEnding || client.isGone || client.isDeaf || !this.#random.chance(crashPercent))
        return;
      this.#crashes++;
      // Now and then the former process lives on and does not know: it must be fenced.
      const livesOn = this.#random.chance(30);
      if (livesOn) client.isDeaf = true;
      else client.kill();
      void this.start();
      if (!livesOn) throw new Error(`crash at ${name}`);
    };
    // A store of its own: two processes never share a disk, and a new one begins with nothing.
    const folder = this.#random.chance(50)
      ? {}
      : { folder: `${this.#world.folder}/${this.#crashes}` };
    // With a short tick the store commits between two commands, otherwise after some of them.
    const tick = this.#random.chance(50) ? { tickMs: 1 } : {};
    const started = this.#world.startOwners({ client, faultPoint, ...folder, ...tick });
    this.#all.push(started);
    await started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true;
    for (const running of this.#all) await (await running)[Symbol.asyncDispose]();
  }
}
