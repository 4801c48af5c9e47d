/** Why a server cannot be reached, by the code of the error. Each completes "… cannot be reached: ". */
export const NETWORK_REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'it refuses connections',
  ENOTFOUND: 'the host does not exist',
  EAI_AGAIN: 'the name of the host cannot be looked up',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no network',
  ECONNRESET: 'the connection was lost',
  EPIPE: 'the connection was lost',
  ETIMEDOUT: 'it does not answer',
};
