/** OpenSSL errors for untrusted certificates and for servers that do not use TLS. */
const untrusted =
  /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?|CERT_UNTRUSTED)$/
const noTls = /^(EPROTO|ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|TLSV1_\w+|SSLV3_\w+))$/

/** Looks among the causes; undefined without a TLS failure. @param setting setting with the server's URL */
export function tlsFault(error: unknown, setting: string): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const code = 'code' in at ? String(at.code) : ''
    if (untrusted.test(code))
      return `The certificate of the server is not trusted: name the file of its authority in NODE_EXTRA_CA_CERTS. The address stands in ${setting}.`
    if (code === 'CERT_HAS_EXPIRED')
      return `The certificate of the server has expired: renew it. The address stands in ${setting}.`
    if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
      return `The certificate of the server is for another name: use a name that it holds in ${setting}.`
    if (noTls.test(code))
      return `The server does not speak TLS as asked: check the protocol of the address in ${setting}.`
  }
  return undefined
}
