import { existsSync } from 'node:fs';
import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import { createNodeResolver, importX } from 'eslint-plugin-import-x';
import tsdoc from 'eslint-plugin-tsdoc';
import tseslint from 'typescript-eslint';
import { floors, narrowed } from './floors.js';
import { plainWords } from './scripts/language/rule.js';

const all = floors.flat();

/** One zone per folder: it may import only the folders below it. */
const zones = floors.flatMap((folders, level) =>
  folders
    .filter((folder) => existsSync(`lib/${folder}`))
    .map((folder) => {
      const below = floors.slice(0, level).flat();
      const banned = all.filter((other) => other !== folder && !below.includes(other));
      return {
        target: `./lib/${folder}`,
        from: banned.map((other) => `./lib/${other}`),
        message: `lib/${folder} may import only from: ${below.join(', ') || 'nothing in lib'}.`,
      };
    }),
);

/** One zone for each folder that may use less than its floor allows. */
const narrow = Object.entries(narrowed).map(([folder, { below, except }]) => {
  const rest = `./lib/${folder}/!(${except.join('|')})`;
  const banned = all.filter((other) => other !== folder && !below.includes(other));
  return {
    target: [rest, `${rest}/**`],
    from: [...banned, ...except.map((part) => `${folder}/${part}`)].map((part) => `./lib/${part}`),
    message: `lib/${folder} may import only from: ${below.join(', ')}; but for ${except.join(', ')}.`,
  };
});

const doors = ['index.ts', 'internal.ts'];

/** Three zones for each folder: others import its doors, its own files do not, and the root only the public one. */
const behindDoors = all.flatMap((folder) => [
  {
    target: all.filter((other) => other !== folder).map((other) => `./lib/${other}`),
    from: `./lib/${folder}`,
    except: doors,
    message: `Import lib/${folder}/index.ts, or internal.ts if there is one; export the name there if it is missing.`,
  },
  {
    target: `./lib/${folder}`,
    from: doors.map((door) => `./lib/${folder}/${door}`),
    message:
      'A door is for other folders. Inside the folder, import the file that defines the name.',
  },
  {
    target: './lib/index.ts',
    from: `./lib/${folder}`,
    except: ['index.ts'],
    message: `The root exports only what lib/${folder}/index.ts exports.`,
  },
]);

const timeAndChance = [
  ...['setTimeout', 'setInterval', 'setImmediate', 'performance'].map((name) => ({
    name,
    message: 'Time belongs to the Clock of lib/system.',
  })),
];

export default tseslint.config(
  {
    ignores: ['dist', 'coverage', 'node_modules', '.cache', 'site', 'bench/results', 'lib/*/data'],
  },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    plugins: { 'import-x': importX, language: { rules: { 'plain-words': plainWords } }, tsdoc },
    settings: {
      // An import names the `.js` that its `.ts` becomes; without this the rules below see no file.
      'import-x/resolver-next': [createNodeResolver({ extensionAlias: { '.js': ['.ts', '.js'] } })],
    },
    rules: {
      'language/plain-words': 'error',
      'import-x/no-default-export': 'error',
      'import-x/no-cycle': ['error', { ignoreExternal: true }],
      'tsdoc/syntax': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      '@typescript-eslint/require-await': 'off',
      'no-console': 'error',
    },
  },
  {
    files: ['lib/**/*.ts'],
    rules: {
      'import-x/no-restricted-paths': ['error', { zones: [...zones, ...narrow, ...behindDoors] }],
    },
  },
  {
    files: ['lib/**/*.ts'],
    ignores: ['lib/system/**'],
    rules: {
      'no-restricted-globals': ['error', ...timeAndChance],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'Time belongs to the Clock of lib/system.' },
        {
          object: 'Math',
          property: 'random',
          message: 'Chance belongs to the Random of lib/system.',
        },
        {
          object: 'crypto',
          property: 'randomUUID',
          message: 'Chance belongs to the Random of lib/system.',
        },
      ],
    },
  },
  {
    files: ['spec/**/*.ts'],
    rules: {
      // chai's assertions are expressions: `expect(x).to.be.true`.
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    // Sources of the projects that `init` and `create` write.
    files: ['templates/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { args: 'none' }],
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', name: ['describe', 'it', 'test'], package: 'node:test' },
          ],
        },
      ],
    },
  },
  {
    files: ['samples/**', 'bench/**', 'scripts/**', 'spec/cluster/control-plane/main.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    // The list itself, and the spec of the rule.
    files: ['scripts/language/words.js', 'spec/docs/plain-words.spec.ts'],
    rules: { 'language/plain-words': 'off' },
  },
  {
    files: ['**/*.{js,cjs}'],
    ...tseslint.configs.disableTypeChecked,
    languageOptions: {
      parserOptions: { projectService: false },
      globals: { process: 'readonly', console: 'readonly' },
    },
  },
  {
    files: ['**/*.cjs'],
    languageOptions: {
      sourceType: 'commonjs',
      globals: { exports: 'readonly', module: 'readonly', require: 'readonly' },
    },
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
  {
    files: ['eslint.config.js', 'templates/init/_eslint.config.js'],
    rules: { 'import-x/no-default-export': 'off' },
  },
  prettier,
);
