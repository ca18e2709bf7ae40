import { expect } from 'chai';
import { readFile, writeFile } from 'node:fs/promises';
import { breakingChanges } from '../../../lib/cli/evolution/breaking-changes.js';
import { lintDefinitions } from '../../../lib/cli/evolution/lint-definitions.js';
import type { CustomResourceDefinition, Schema } from '../../../lib/object/index.js';
import { flawless, lintCases, optionalCases, widget } from './lint-cases.js';
import { crdWith, harmlessCases, schemaCases } from './schema-cases.js';

const recording = new URL('recorded-findings.txt', import.meta.url);

interface Finding {
  readonly rule: string;
  readonly path: string;
  readonly message: string;
}

const linesOf = (title: string, findings: readonly Finding[]): readonly string[] => [
  title,
  ...findings.map(({ rule, path, message }) => `  ${rule} ${path}: ${message}`),
];

/** Returns a definition of {@link crdWith} with these subresources. */
function crdWithSubresources(subresources: object): CustomResourceDefinition {
  const crd = structuredClone(crdWith({ type: 'string' }));
  Object.assign(crd.spec.versions[0] ?? {}, { subresources });
  return crd;
}

function changes(): readonly string[] {
  const schemas = [
    ...schemaCases.map(({ before, after }) => [before, after] as const),
    ...harmlessCases.map(([, before, after]) => [before, after] as const),
  ];
  const ofSchemas = schemas.flatMap(([before, after]) =>
    linesOf(
      `${JSON.stringify(before)} to ${JSON.stringify(after)}`,
      breakingChanges([crdWith(before)], [crdWith(after)]),
    ),
  );
  const scale = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' };
  const subresources = [
    {},
    { status: {} },
    { scale },
    { scale: { ...scale, labelSelectorPath: '.a' } },
  ];
  const ofSubresources = subresources.flatMap((before) =>
    subresources.flatMap((after) =>
      linesOf(
        `${JSON.stringify(before)} to ${JSON.stringify(after)}`,
        breakingChanges([crdWithSubresources(before)], [crdWithSubresources(after)]),
      ),
    ),
  );
  return [...ofSchemas, ...ofSubresources];
}

function lints(): readonly string[] {
  const text = (rest: Schema): Schema => ({ type: 'string', description: 'It has one.', ...rest });
  const cases = [
    ...[...lintCases, ...optionalCases].map(
      ({ rule, path, crd }) => [`${rule} ${path}`, crd] as const,
    ),
    ...flawless,
    [
      'texts with a format or an enum',
      widget({ a: text({ format: 'uri' }), b: text({ enum: ['A'] }) }),
    ],
  ] as const;
  return cases.flatMap(([title, crd]) => linesOf(title, lintDefinitions([crd])));
}

describe('The findings of operator-builder breaking and lint', () => {
  // Set RECORD_FINDINGS=true to record the findings again, and review the difference.
  it('have the same texts as in the recording', async () => {
    const text = [...changes(), ...lints(), ''].join('\n');
    if (process.env['RECORD_FINDINGS'] === 'true') await writeFile(recording, text);
    expect(text.split('\n')).to.deep.equal((await readFile(recording, 'utf8')).split('\n'));
  });
});
