import { expect } from 'chai';
import type { CliResult } from '../../cli.js';

/** Plans the shop `a` with this spec without storing it. */
type PlanShop = (spec: object, ...args: readonly string[]) => Promise<CliResult>;

/** Specs of fields that `plan` refuses with the same line on every server. */
export function unknownFieldSuite(plan: PlanShop): void {
  it('a plan refuses an unknown field in one line with the object and the field', async () => {
    const { code, stdout, stderr } = await plan({ greeting: 'x'.repeat(1_500), replica: 3 });
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr).to.match(
      /^error: create Shop \S+\/a: 400 unknown field "spec\.replica" \(correct the name[^\n]*\)\n$/,
    );
    const applied = await plan({ replica: 3 }, '--server-side');
    expect(applied.code).to.equal(1);
    expect(applied.stderr).to.match(
      /^error: apply Shop \S+\/a: \d+ \.spec\.replica: field not declared in schema [^\n]*\n$/,
    );
  });

  it('a plan refuses an invalid value in one line with the object, the field and the reason', async () => {
    const { code, stdout, stderr } = await plan({ replicas: -1 });
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr).to.match(
      /^error: create Shop \S+\/a: 422 spec\.replicas: Invalid value: -1: [^\n]*greater than or equal to 0\n$/,
    );
  });
}
