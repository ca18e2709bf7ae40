import { expect } from 'chai';
import { cli } from '../cli/cli.js';
import { foreignDefinitions, foreignProjects } from './foreign-definitions.js';

/** For each project with errors, the rules that report them. */
const errors: Readonly<Record<string, readonly string[]>> = {
  Istio: ['conditions'],
  'Argo Rollouts': ['conditions'],
};

describe('the command lint, with CustomResourceDefinitions of other projects', () => {
  for (const project of foreignProjects) {
    const expected = errors[project] ?? [];
    it(`finds ${expected.length === 0 ? 'no errors' : expected.join()} in the definitions of ${project}`, async () => {
      const { code, stdout } = await cli(['lint', await foreignDefinitions(project)]);
      const rules = [...stdout.matchAll(/^ {2}! (\S+)/gm)].map(([, rule]) => rule);
      expect([...new Set(rules)], stdout).to.deep.equal(expected);
      expect(code).to.equal(expected.length === 0 ? 0 : 1);
    }).timeout(120_000);
  }
});
