import { accessForbidden } from '../auth/authorizer.js';
import { attributesOf } from '../auth/access-attributes.js';
import { isGrant } from '../auth/grant-check.js';
import type { AdmittedWrite, WriteHooks } from '../writes/write-hooks.js';
import type { ResourceContext } from './resource-handler.js';

/** What has a say in the writes of a request beside the rules of its kind; undefined: nothing. */
export function requestHooks(context: ResourceContext): WriteHooks | undefined {
  const { access } = context.core;
  if (access.grants === undefined) return undefined;
  return {
    admit: (write) => {
      checkGrant(context, write);
      return write.object;
    },
    validate: (write) => {
      checkCreation(context, write);
    },
  };
}

/** Nobody gives rights away that they don't have. */
function checkGrant(context: ResourceContext, { object, old }: AdmittedWrite): void {
  const { core, kind, info, user } = context;
  if (object === undefined || !isGrant(kind.type)) return;
  const { plural } = kind.type;
  core.access.grants?.check(user, { plural, object, old, requestedName: info.name });
}

/** Whoever makes an object with PUT or an apply must be allowed to create it. */
function checkCreation({ core, info, user }: ResourceContext, { operation }: AdmittedWrite): void {
  if (operation !== 'CREATE' || info.verb === 'create') return;
  const attributes = { ...attributesOf(info), verb: 'create' };
  const { allowed, reason } = core.access.authorizer.authorize(user, attributes);
  if (!allowed) throw accessForbidden(user, attributes, reason);
}
