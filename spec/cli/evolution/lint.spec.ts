import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { chosen } from '../../../lib/cli/evolution/findings.js';
import { lintDefinitions } from '../../../lib/cli/evolution/lint-definitions.js';
import { lintRules } from '../../../lib/cli/evolution/lint-rules.js';
import { defineResource, s } from '../../../lib/crd/index.js';
import type { CustomResourceDefinition, Schema } from '../../../lib/object/index.js';
import { cli, scratchDirectory } from '../cli.js';
import { flawless, lintCases, optionalCases, widget } from './lint-cases.js';

function found(crd: CustomResourceDefinition, enable: readonly string[] = []) {
  return chosen(lintDefinitions([crd]), { disable: [], enable }, lintRules).map(
    ({ rule, path }) => ({ rule, path }),
  );
}

const text = { type: 'string' } as const;

describe('operator-builder lint', () => {
  const file = scratchDirectory();

  for (const { rule, path, crd } of lintCases) {
    it(`reports ${rule} ${path === '' ? 'of a version' : `of ${path}`}`, () => {
      expect(found(crd)).to.deep.equal([{ rule, path }]);
    });
  }

  for (const { rule, path, crd } of optionalCases) {
    it(`reports ${rule} only if it is enabled`, () => {
      expect(found(crd)).to.deep.equal([]);
      expect(found(crd, [rule])).to.deep.include({ rule, path });
      expect(found(crd, [`${rule}:metadata`])).to.deep.equal([]);
    });
  }

  it('has a test for each rule', () => {
    const used = [...lintCases, ...optionalCases].map(({ rule }) => rule);
    expect(Object.keys(lintRules).filter((rule) => !used.includes(rule))).to.deep.equal([]);
  });

  for (const [what, crd] of flawless) {
    it(`reports nothing for ${what}`, () => {
      expect(found(crd)).to.deep.equal([]);
    });
  }

  it('warns about the cost of a rule from half of the limit up to the limit', () => {
    // The rule costs 2 for each of the items.
    const levels = [2_499_999, 2_500_000, 5_000_000, 5_000_001].map((maxItems) => {
      const rules = [{ rule: 'self > 0', message: 'must be positive' }];
      const items: Schema = { type: 'integer', format: 'int64', 'x-kubernetes-validations': rules };
      const list: Schema = { description: 'Some.', type: 'array', maxItems, items };
      return lintDefinitions([widget({ list })]).map(({ level, rule }) => `${level} ${rule}`);
    });
    const warning = ['warning rule-cost'];
    expect(levels).to.deep.equal([[], warning, warning, ['error invalid-schema']]);
  });

  it('shortens messages of the API server that are longer than 300 characters', () => {
    const messageOf = (length: number): string | undefined => {
      const a = { description: 'One.', type: 'x'.repeat(length) } as unknown as Schema;
      const crd = widget({ a });
      return lintDefinitions([crd])[0]?.message;
    };
    const whole = (length: number): string =>
      `Unsupported value: "${'x'.repeat(length)}": supported values: "array", "boolean", "integer", "number", "object", "string"`;
    expect(whole(200)).to.have.length(300);
    expect(messageOf(200)).to.equal(whole(200));
    expect(messageOf(201)).to.equal(`${whole(201).slice(0, 300)}…`);
  });

  it('reports nothing about the fields that s.status() adds', () => {
    const versions = [{ name: 'v1', schema: s.object({}), status: s.status() }] as const;
    const { crd } = defineResource({ group: 'example.com', kind: 'Widget', versions });
    const paths = found(crd).map(({ path }) => path);
    expect(paths.filter((path) => path.startsWith('status.'))).to.deep.equal([]);
  });

  it('reports a short name that is used by two definitions', () => {
    const names = { kind: 'Gear', plural: 'gears', shortNames: ['widget'] };
    const gear = { ...widget({}, {}, { names }), metadata: { name: 'gears.example.com' } };
    const [clash] = lintDefinitions([widget({}), gear]);
    expect(clash).to.include({ rule: 'name-clash', definition: 'gears.example.com' });
    expect(clash?.message).to.include('also that of widgets.example.com');
  });

  for (const [count, shown] of [
    [3, '"a", "b", "c"'],
    [4, '"a", "b", "c" and 1 more'],
  ] as const) {
    it(`names at most three of ${count} enum values that are not in CamelCase`, () => {
      const values = ['a', 'b', 'c', 'd'].slice(0, count);
      const level = { type: 'string', description: 'It has one.', enum: values } as const;
      const [finding] = lintDefinitions([widget({ level })]).filter(
        ({ rule }) => rule === 'enum-case',
      );
      expect(finding?.message).to.equal(`values of enums are in CamelCase, unlike ${shown}`);
    });

    it(`names at most three of ${count} fields without a description`, () => {
      const fields = ['a', 'b', 'c', 'd'].slice(0, count).map((name) => [name, text] as const);
      const [finding] = lintDefinitions([widget(Object.fromEntries(fields))]).filter(
        ({ rule }) => rule === 'description',
      );
      expect(finding?.message)
        .to.include(`${count} of `)
        .and.match(
          count === 3 ? /: spec\.a, spec\.b, spec\.c$/ : /: spec\.a, spec\.b, spec\.c and others$/,
        );
    });
  }

  it('reports a problem only once if several versions have it', () => {
    const { spec, ...rest } = widget({ level_of: { type: 'string', description: 'It has one.' } });
    const versions = ['v1', 'v2'].map((name) => ({
      ...spec.versions[0],
      name,
      storage: name === 'v2',
    }));
    const crd = { ...rest, spec: { ...spec, versions } } as CustomResourceDefinition;
    const [finding, ...others] = chosen(
      lintDefinitions([crd]),
      { disable: [], enable: [] },
      lintRules,
    );
    expect(finding?.versions).to.deep.equal(['v1', 'v2']);
    expect(others).to.deep.equal([]);
  });

  it('exits with 1 for errors, and with 0 for warnings and disabled rules', async () => {
    const [error, warning] = [
      widget({}, { selectableFields: [{ jsonPath: '.spec.b' }] }),
      widget({ a_b: { type: 'string' } }),
    ];
    await writeFile(file('error.json'), JSON.stringify(error));
    await writeFile(file('warning.json'), JSON.stringify(warning));
    const failed = await cli(['lint', file('error.json')]);
    expect(failed).to.deep.include({ code: 1, stderr: '' });
    expect(failed.stdout).to.match(
      /^widgets\.example\.com\n {2}! selectable-field v1 spec\.b: .*\n1 error, 0 warnings\n$/,
    );
    expect((await cli(['lint', file('warning.json')])).code).to.equal(0);
    const off = await cli(['lint', file('error.json'), '--disable', 'selectable-field']);
    expect(off).to.deep.include({ code: 0, stdout: 'no findings\n' });
  });

  it('refuses a call without definitions, and an unknown rule', async () => {
    expect((await cli(['lint'])).stderr).to.include(
      'no definitions: pass files, folders or URLs, such as config/crd/bases, or --cluster',
    );
    const { code, stderr } = await cli(['lint', '-', '--enable', 'nope'], { stdin: '{}' });
    expect({ code, stderr }).to.have.property('code', 1);
    expect(stderr).to.include('unknown rule nope');
  });
});
