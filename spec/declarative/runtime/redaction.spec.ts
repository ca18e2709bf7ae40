import { inspect } from 'node:util';
import { expect } from 'chai';
import { Redaction } from '../../../lib/declarative/runtime/reported-errors.js';
import { ApiError } from '../../../lib/object/api-error.js';

const hiding = new Redaction(() => true);
const context = { verb: 'apply', text: 'Secret: xyzzy' } as const;

/** Returns the visible text of a server's answer. */
function hidden(code: number, message: string, field?: string): string {
  const details = { causes: [{ reason: 'FieldValueInvalid', message, field }] };
  const status = { apiVersion: 'v1', kind: 'Status', status: 'Failure', code, message } as const;
  const body = { ...status, ...(field !== undefined && { details }) };
  return inspect(hiding.ofWrite(new ApiError(body as never, context as never)), { depth: 9 });
}

describe("Redaction of a server's answer about a Secret", () => {
  it('keeps only the paths of fields', () => {
    const said = hidden(422, 'data[a]: Invalid value: "xyzzy"', 'data[a]');
    expect(said).to.include('about data[a]').and.not.include('xyzzy');
  });

  it('keeps the path of a field that the schema does not declare', () => {
    const said = hidden(
      500,
      'failed: (default/xyzzy; /v1): .spec.binaryData: field not declared in schema',
    );
    expect(said).to.include('about spec.binaryData').and.not.include('xyzzy');
    const keyed = hidden(500, 'failed: .spec.list[name="xyzzy"].nam: field not declared in schema');
    expect(keyed).to.not.include('xyzzy').and.not.include('about');
  });

  it('does not change errors about other kinds', () => {
    const error = new Error('no connection');
    expect(hiding.ofWrite(error)).to.equal(error);
  });
});
