import redos from 'eslint-plugin-redos';
import tseslint from 'typescript-eslint';

const clock = { object: 'Date', property: 'now', message: 'Take a Clock (src/kernel/time.ts).' };
const chance = {
  object: 'Math',
  property: 'random',
  message: 'Use node:crypto, or a seeded generator.',
};
const settings = {
  object: 'process',
  property: 'env',
  message: 'Settings are read once, by src/app/config.ts or src/cli/environment.ts.',
};
const builtPattern = {
  selector:
    ':matches(NewExpression, CallExpression)[callee.name="RegExp"][arguments.0.type!="Literal"]',
  message:
    'A pattern built from text escapes the check for super-linear time: write it as a literal.',
};

export default tseslint.config(
  {
    ignores: ['node_modules', '**/build', '**/.svc', 'dist', '**/*.js', '**/*.cjs', '**/*.mjs'],
  },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'no-restricted-properties': ['error', clock, chance, settings],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_' },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: true },
      ],
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/unified-signatures': 'off',
    },
  },
  {
    // Text from outside can be 32 KB of whatever an expression is slowest with.
    files: ['src/**', 'streams/**'],
    plugins: { redos },
    rules: {
      // A pattern that is not proven safe in this time counts as unsafe.
      'redos/no-vulnerable': ['error', { ignoreErrors: false, timeout: 60_000 }],
      'no-restricted-syntax': ['error', builtPattern],
    },
  },
  {
    files: ['src/kernel/time.ts', 'test/**', 'examples/**'],
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    files: ['test/**'],
    rules: {
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
);
