import type { Client } from '../../client/client.js';
import { isApiError } from '../../object/api-error.js';
import type { OperatorResource, OperatorStatus } from './operator-resource.js';

const fieldManager = 'operator-builder-operators';

/**
 * Writes the status of an `Operator` object. dcontroller's own definition of the resource knows less than
 * `OperatorResource.crd`: where a cluster has that one, what it does not know is left out.
 * @returns the object as it is then
 */
export async function writeStatus(
  { apiVersion, kind, metadata: { name, uid } }: OperatorResource,
  status: OperatorStatus,
  { client, signal }: { readonly client: Client; readonly signal: AbortSignal },
): Promise<OperatorResource> {
  // With the uid, so that it never gets into another object of the name.
  const metadata = { name, ...(uid !== undefined && { uid }) };
  const apply = async (written: OperatorStatus): Promise<OperatorResource> => {
    const object = { apiVersion, kind, metadata, status: written } as OperatorResource;
    const options = { fieldManager, force: true, subresource: 'status', signal };
    return (await client.apply(object, options)).object;
  };
  try {
    return await apply(status);
  } catch (error) {
    if (!isUndeclared(error)) throw error;
    return apply(leastStatus(status));
  }
}

/** Whether the schema on the server lacks a field of what was applied; there is no other sign of it. */
function isUndeclared(error: unknown): boolean {
  return isApiError(error) && error.message.includes('field not declared in schema');
}

/** What dcontroller's definition has fields for. */
function leastStatus({ controllers }: OperatorStatus): OperatorStatus {
  return {
    controllers: controllers.map(({ name, conditions, lastErrors }) => ({
      name,
      ...(conditions !== undefined && { conditions }),
      ...(lastErrors !== undefined && { lastErrors }),
    })),
  };
}
