import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';

/** Images that the API takes, as a data URL of at most so many characters (docs/connect-page.md). */
const types = ['image/png', 'image/jpeg', 'image/webp', 'image/svg+xml'];
const charsMax = 16_384;

/** @throws Error that says why the file cannot be a logo */
async function dataUrlOf(file: File): Promise<string> {
  if (!types.includes(file.type)) throw new Error('Choose a PNG, JPEG, WebP or SVG image.');
  const reader = new FileReader();
  const text = await new Promise<unknown>((resolve, reject) => {
    reader.addEventListener('load', () => resolve(reader.result));
    reader.addEventListener('error', () => reject(new Error('The file could not be read.')));
    reader.readAsDataURL(file);
  });
  if (typeof text !== 'string') throw new Error('The file could not be read.');
  if (text.length <= charsMax) return text;
  throw new Error(`The image has ${file.size.toLocaleString('en')} bytes: 12,000 at most.`);
}

interface LogoFieldProps {
  /** A data URL; empty: none. */
  readonly logo: string;
  readonly onChange: (logo: string) => void;
}

export function LogoField({ logo, onChange }: LogoFieldProps): JSX.Element {
  const id = useId();
  const [problem, setProblem] = useState<string | null>(null);
  const choose = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    try {
      onChange(await dataUrlOf(file));
      setProblem(null);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <div class="field">
      <label for={id}>Logo</label>
      <input
        id={id}
        class="input"
        type="file"
        accept={types.join(',')}
        aria-describedby={`${id}-about`}
        aria-invalid={problem !== null}
        onChange={({ currentTarget }) => void choose(currentTarget.files?.[0])}
      />
      <span id={`${id}-about`} class={problem === null ? 'hint' : 'problem'}>
        {problem ?? 'PNG, JPEG, WebP or SVG, up to 12 KB'}
      </span>
      {logo !== '' && (
        <div>
          <Button isSmall icon="close" onPress={() => onChange('')}>
            Remove the logo
          </Button>
        </div>
      )}
    </div>
  );
}
