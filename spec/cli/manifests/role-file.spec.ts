import { expect } from 'chai';
import { parseRoleFile } from '../../../lib/cli/manifests/role-file.js';

const head = '# mine\nkind: ClusterRole\nmetadata:\n  name: manager-role # and this\nrules:\n';
const pods = "  - apiGroups: ['']\n    resources: [pods]\n    verbs: [list]\n";
const oneVerb = "  - apiGroups: ['']\n    resources: [pods]\n    verbs: list\n";
const marker = '  # +operator-builder:scaffold:rules\n';
const own = '  - nonResourceURLs: [/metrics]\n    verbs: [get] # why\n';
const groups = "    apiGroups: ['']\n";
const secrets = { apiGroups: [''], resources: ['secrets'], verbs: ['get'] };

describe('A role file', () => {
  it('replaces generated rules, and keeps the other rules', () => {
    const file = parseRoleFile(head + pods + marker + own, 'role.yaml');
    expect(file.rules).to.deep.equal([{ ...secrets, resources: ['pods'], verbs: ['list'] }]);
    const generated = pods.replace('pods', 'secrets').replace('list', 'get');
    expect(file.withRules([secrets])).to.equal(head + generated + marker + own);
    expect(file.withRules([])).to.equal(head + marker + own);
  });

  it('keeps the formatting of generated rules that have not changed', () => {
    const blocks = '# why\n- apiGroups:\n  - ""\n  resources:\n  - secrets\n  verbs: ["get"]\n';
    const text = head + blocks + marker.trimStart() + own;
    expect(parseRoleFile(text, 'role.yaml').withRules([secrets, secrets])).to.equal(text);
  });

  it('indents generated rules like the rules of the user', () => {
    const margin = (text: string): string => text.replaceAll(/^ {2}/gm, '');
    const start = head.replace('rules:', 'rules: # of the operator');
    const text = start + margin(pods + marker + own);
    const generated = margin(pods).replace('pods', 'secrets').replace('list', 'get');
    const role = parseRoleFile(text, 'role.yaml');
    expect(role.withRules([secrets])).to.equal(start + generated + margin(marker + own));
    const none = parseRoleFile(role.withRules([]), 'role.yaml');
    expect(none.withRules([secrets])).to.equal(role.withRules([secrets]));
  });

  it('reads and replaces generated rules for non-resource URLs', () => {
    const file = parseRoleFile(head + own + marker, 'role.yaml');
    const paths = { nonResourceURLs: ['/metrics'], verbs: ['get'] };
    expect(file.rules).to.deep.equal([paths]);
    expect(file.withRules([paths])).to.equal(head + own + marker);
    const more = [paths, { ...paths, nonResourceURLs: ['*'] }, secrets];
    expect(file.withRules(more)).to.equal(
      head +
        "  - apiGroups: ['']\n    resources: [secrets]\n    verbs: [get]\n" +
        "  - nonResourceURLs: ['*', '/metrics']\n    verbs: [get]\n" +
        marker,
    );
  });

  for (const [what, text, says] of [
    ['the marker is missing', head + pods, 'does not mark the generated rules'],
    ['the list is missing', 'kind: Role\n' + marker, 'write rules: before'],
    ['a rule has paths and groups', head + own + groups + marker, 'below the line # +operator'],
    ['its YAML is invalid', head + '  - [\n' + marker, "role.yaml has rules that can't be read"],
    ['the verbs of a rule are not a list', head + oneVerb + marker, 'is not a generated rule'],
    ['the rules are not a list', head + '  a: b\n' + marker, 'want a list of rules'],
  ] as const) {
    it(`is refused where ${what}`, () => {
      expect(() => parseRoleFile(text, 'role.yaml'))
        .to.throw(says)
        .with.property('code', 'InvalidConfig');
    });
  }
});
