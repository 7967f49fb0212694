/**
 * `npm run catalogue:draw -- <seed> [entries]`: draws entries of the catalog, to be read against the documentation of
 * their providers. The same seed over the same catalog draws the same.
 */
import { loadCatalogue } from '#modules/connections/providers/load-catalogue.ts';
import { seeded } from '#test/support/judges/random.ts';

const [seed, wanted = '20'] = process.argv.slice(2);
if (seed === undefined) throw new Error('Give a seed, such as the date: 20261127.');
const left = loadCatalogue({ overlayPath: null })
  .all()
  .map(({ name }) => name);
const random = seeded(Number(seed));
for (let at = 0; at < Number(wanted) && left.length > 0; at++) {
  console.log(left.splice(random.int(left.length), 1).join(''));
}
