import type { Dispatcher } from 'undici';

/**
 * Wraps `dispatcher` so that `beforeSend` runs once the connection is open, its handshake is done and it is
 * the request's turn. undici writes the request to the socket right after it, in the same turn of the event
 * loop. If `beforeSend` throws, undici drops the unsent request and keeps the connection.
 */
export function askingFirst(dispatcher: Dispatcher, beforeSend: () => void): Dispatcher {
  return dispatcher.compose(
    (dispatch) => (options, handler) => dispatch(options, asking(handler, beforeSend)),
  );
}

/** Wraps `handler` method by method: undici's own handlers have private fields. */
function asking(
  handler: Dispatcher.DispatchHandler,
  beforeSend: () => void,
): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (controller, context) => {
      beforeSend();
      handler.onRequestStart?.(controller, context);
    },
    onRequestUpgrade: (...upgrade) => handler.onRequestUpgrade?.(...upgrade),
    onResponseStart: (...start) => handler.onResponseStart?.(...start),
    onResponseData: (...data) => handler.onResponseData?.(...data),
    onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
    onResponseError: (...failure) => handler.onResponseError?.(...failure),
  };
}
