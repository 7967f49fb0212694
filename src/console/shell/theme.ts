import { useEffect, useState } from 'preact/hooks';
import {
  applyTheme,
  prefersDark,
  readChoice,
  storeChoice,
  type ThemeChoice,
} from './theme-choice.ts';

export function useTheme(): readonly [ThemeChoice, (choice: ThemeChoice) => void] {
  const [choice, setChoice] = useState(readChoice);
  useEffect(() => {
    applyTheme(choice);
    const follow = (): void => applyTheme(choice);
    prefersDark.addEventListener('change', follow);
    return () => prefersDark.removeEventListener('change', follow);
  }, [choice]);
  const choose = (next: ThemeChoice): void => {
    storeChoice(next);
    setChoice(next);
  };
  return [choice, choose];
}
