import fc from 'fast-check';
import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { Open } from '#adapters/sandbox/guest/unzipper.ts';

const seed = Number(process.env['SVC_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const text = (content: string): Uint8Array => new TextEncoder().encode(content);
const archive = () =>
  Buffer.from(
    zipSync({
      'ä/b.txt': text('to be or not to be '.repeat(90)),
      'stored.bin': [new Uint8Array([0, 255, 7]), { level: 0 }],
      'empty/': new Uint8Array(0),
    }),
  );

/** The same archive with other 4 bytes at a place of the first entry of its directory. */
function withField(place: number, value: number): Buffer {
  const bytes = archive();
  bytes.writeUInt32LE(value, bytes.indexOf('PK\x01\x02') + place);
  return bytes;
}
const place = { compressed: 20, uncompressed: 24 };

describe(`unzipper, seed ${seed}`, () => {
  it('lists the files of an archive, and unpacks each', async () => {
    const { files } = await Open.buffer(archive());
    expect(files.map(({ path, type, uncompressedSize }) => [path, type, uncompressedSize])).toEqual(
      [
        ['ä/b.txt', 'File', 1710],
        ['stored.bin', 'File', 3],
        ['empty/', 'Directory', 0],
      ],
    );
    const unpacked = await Promise.all(files.map((file) => file.buffer()));
    expect(unpacked.map((bytes) => bytes.toString('hex').slice(0, 12))).toEqual([
      '746f20626520',
      '00ff07',
      '',
    ]);
    expect(unpacked[0]?.length).toBe(1710);
    expect(() => files[0]?.stream()).toThrow('await buffer()');
  });

  it('unpacks the right one of two files of one name', async () => {
    const bytes = Buffer.from(zipSync({ 'a.txt': text('first'), 'b.txt': text('second') }));
    for (let at = bytes.indexOf('b.txt'); at >= 0; at = bytes.indexOf('b.txt')) bytes[at] = 0x61;
    const { files } = await Open.buffer(bytes);
    const unpacked = await Promise.all(files.map((file) => file.buffer()));
    expect(unpacked.map(String)).toEqual(['first', 'second']);
  });

  it.each([
    ['is larger than data of its size can be', withField(place.uncompressed, 2 ** 31)],
    ['is shorter than it says', withField(place.uncompressed, 1711)],
    ['is cut off', withField(place.compressed, 5)],
  ])('refuses a file that %s', async (_, bytes) => {
    const { files } = await Open.buffer(bytes);
    await expect(files[0]?.buffer()).rejects.toThrow(/broken/);
  });

  it('refuses an archive that lists more files than it has room for', async () => {
    const bytes = archive();
    // The number of files, in the end of the directory.
    bytes.writeUInt16LE(0xffff, bytes.indexOf('PK\x05\x06') + 8);
    await expect(Open.buffer(bytes)).rejects.toThrow(/broken: more files/);
  });

  it('refuses what is no archive, and never returns another size than it lists', async () => {
    await expect(Open.buffer('text')).rejects.toThrow('takes the bytes of an archive');
    await expect(Open.buffer(new Uint8Array(0))).rejects.toThrow('not a ZIP archive');
    const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(changes, async (changed) => {
        const bytes = archive();
        for (const [at, value] of changed) bytes[at % bytes.length] = value;
        try {
          const { files } = await Open.buffer(bytes);
          for (const file of files) expect(await file.buffer()).toHaveLength(file.uncompressedSize);
        } catch (error) {
          expect((error as Error).message).toMatch(/broken/);
        }
      }),
      { seed, numRuns: 300 },
    );
  });
});
