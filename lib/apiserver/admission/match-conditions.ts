import type { CelProgram } from '../../crd/cel/program.js';
import { CelError } from '../../crd/cel/values.js';
import { forbidden } from '../status-error.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { AdmissionAttributes } from './admission-attributes.js';
import { compileAdmission, jsonValue } from './admission-cel.js';
import { admissionReview } from './admission-review.js';
import type { Webhook } from './webhook-configurations.js';

/** The `matchConditions` of a webhook, compiled at their first use. */
export class MatchConditions {
  readonly #webhook: Webhook;
  #programs: readonly CelProgram[] | undefined;

  constructor(webhook: Webhook) {
    this.#webhook = webhook;
  }

  /**
   * Returns whether all conditions are true.
   * @throws StatusError 403: a condition fails to evaluate, no condition is false, and the failure
   *   policy is Fail.
   */
  hold(attributes: AdmissionAttributes, kind: ServedKind): boolean {
    const { matchConditions = [], failurePolicy } = this.#webhook;
    if (matchConditions.length === 0) return true;
    this.#programs ??= matchConditions.map(({ expression }) => compileAdmission(expression));
    const { request } = admissionReview(attributes, { webhook: this.#webhook, kind });
    const { object, oldObject, ...rest } = request;
    const values = {
      object: jsonValue(object),
      oldObject: jsonValue(oldObject),
      request: jsonValue(rest),
      // Conditions of webhooks have no access to the namespace.
      namespaceObject: null,
    };
    const problems: string[] = [];
    for (const [index, program] of this.#programs.entries()) {
      try {
        if (program.evaluate(values) === false) return false;
      } catch (error) {
        if (!(error instanceof CelError)) throw error;
        const { expression = '' } = matchConditions[index] ?? {};
        problems.push(`expression '${expression}' resulted in error: ${error.message}`);
      }
    }
    if (problems.length === 0) return true;
    if (failurePolicy === 'Ignore') return false;
    const { group, plural } = attributes.kind.type;
    const text = problems.length === 1 ? problems.join() : `[${problems.join(', ')}]`;
    throw forbidden({ group, plural, name: attributes.name }, text);
  }
}
