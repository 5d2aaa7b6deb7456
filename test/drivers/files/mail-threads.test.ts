import { fileExtractor } from '@inlay/drivers/file-extraction'
import { afterAll, describe, expect, test } from 'vitest'
import { utf8 } from './samples.ts'

const extract = fileExtractor()
afterAll(() => extract.close())

const headers = `From: Ann Lee <ann@x.org>
To: Bob Ray <bob@x.org>
Subject: Re: Car park
Date: Fri, 3 May 2024 10:00:00 +0200
Message-ID: <2@x.org>
MIME-Version: 1.0
`

async function partsOf(text: string, type = 'plain'): Promise<[heading: string | undefined, text: string][]> {
  const mail = `${headers}Content-Type: text/${type}; charset=utf-8\n\n${text}\n`
  const { sections } = await extract({ name: 'a.eml', bytes: utf8(mail.replaceAll('\n', '\r\n')) })
  return sections.map((section) => [section.heading, section.text])
}

const newest = 'From June on the barrier opens with the badge.'
const older = 'Does anybody know how the barrier will open?'

describe('what a mail repeats of earlier ones stands behind it, under who wrote it', () => {
  test.each([
    [
      'Gmail and Apple, in English',
      `${newest}\n\nOn Thu, May 2, 2024 at 2:14 PM Bob Ray <bob@x.org> wrote:\n\n> ${older}\n`,
      'On Thu, May 2, 2024 at 2:14 PM Bob Ray <bob@x.org> wrote:',
    ],
    [
      'an attribution of two lines, in German',
      `${newest}\n\nAm Do., 2. Mai 2024 um 14:14 Uhr schrieb Bob Ray <\nbob@x.org>:\n\n> ${older}\n`,
      'Am Do., 2. Mai 2024 um 14:14 Uhr schrieb Bob Ray < bob@x.org>:',
    ],
    [
      'in French',
      `${newest}\n\nLe 2 mai 2024 à 14:14, Bob a écrit :\n> ${older}\n`,
      'Le 2 mai 2024 à 14:14, Bob a écrit :',
    ],
    [
      'Outlook, in English',
      `${newest}\n\n-----Original Message-----\nFrom: Bob Ray <bob@x.org>\nSent: Thursday, May 2, 2024 2:14 PM\nTo: all@x.org\nSubject: Car park\n\n${older}\n`,
      'Bob Ray <bob@x.org>, Thursday, May 2, 2024 2:14 PM',
    ],
    [
      'Outlook, in German',
      `${newest}\n\n________________________________\nVon: Bob Ray\nGesendet: Donnerstag, 2. Mai 2024 14:14\nAn: Alle\nBetreff: Parkplatz\n\n${older}\n`,
      'Bob Ray, Donnerstag, 2. Mai 2024 14:14',
    ],
    [
      'a mail that is passed on',
      `${newest}\n\n---------- Forwarded message ---------\nFrom: Bob Ray <bob@x.org>\nDate: Thu, May 2, 2024 at 2:14 PM\nSubject: Car park\nTo: <all@x.org>\n\n${older}\n`,
      'Bob Ray <bob@x.org>, Thu, May 2, 2024 at 2:14 PM',
    ],
    [
      'an answer below the quote',
      `On 2 May 2024 14:14, Bob wrote:\n> ${older}\n\n${newest}\n`,
      'On 2 May 2024 14:14, Bob wrote:',
    ],
    ['a quote without its author', `${newest}\n\n> ${older}\n`, 'Earlier message'],
  ])('%s', async (_name, text, heading) => {
    expect(await partsOf(text)).toEqual([
      [undefined, newest],
      [heading, older],
    ])
  })

  test('the same in HTML', async () => {
    const gmail = `<div>${newest}</div><div class="gmail_quote"><div>On Thu, May 2, 2024 Bob &lt;<a href="mailto:bob@x.org">bob@x.org</a>&gt; wrote:<br></div><blockquote>${older}</blockquote></div>`
    const outlook = `<p>${newest}</p><div style="border-top:solid"><p><b>From:</b> Bob Ray<br><b>Sent:</b> Thursday, May 2, 2024<br><b>To:</b> all@x.org<br><b>Subject:</b> Car park</p></div><p>${older}</p>`
    expect(await partsOf(gmail, 'html')).toEqual([
      [undefined, newest],
      ['On Thu, May 2, 2024 Bob <bob@x.org> wrote:', older],
    ])
    expect(await partsOf(outlook, 'html')).toEqual([
      [undefined, newest],
      ['Bob Ray, Thursday, May 2, 2024', older],
    ])
  })

  test('each message of a thread once, the latest first', async () => {
    const first = 'The gate was broken yesterday, please use the other one.'
    const text = `${newest}\n\nOn 2 May 2024, Bob wrote:\n> ${older}\n>\n> On 1 May 2024, Cy wrote:\n>> ${first}\n>>\n>> On 30 April 2024, Bob wrote:\n>>> ${older}\n`
    expect(await partsOf(text)).toEqual([
      [undefined, newest],
      ['On 2 May 2024, Bob wrote:', older],
      ['On 1 May 2024, Cy wrote:', first],
    ])
  })
})

describe('what stays in the message', () => {
  test.each([
    ['answers between quotes', `> Is it open on Sundays?\nNo.\n\n> And on Saturdays?\nFrom eight to noon.`],
    ['a short quote within', `The law says:\n\n> Dogs are kept on a lead.\n\nSo ours is, too.`],
    ['a letter that speaks of From and To', `From: June\nWe open at eight.\n\nTo: everybody who asked.`],
    ['a sentence that ends in "wrote:"', `As Goethe wrote:\nMore light.`],
  ])('%s', async (_name, text) => {
    expect(await partsOf(text)).toEqual([[undefined, text]])
  })

  test('a mail that is passed on without a word is its own text', async () => {
    const text = `-----Original Message-----\nFrom: Bob Ray\nSent: Thursday\nTo: all@x.org\nSubject: Car park\n\n${older}`
    expect(await partsOf(text)).toEqual([[undefined, older]])
  })
})

test('an attached mail is not repeated by the quote of it', async () => {
  const inner = `From: Bob <bob@x.org>\nTo: all@x.org\nSubject: Car park\nDate: Thu, 2 May 2024 14:14:00 +0200\nMIME-Version: 1.0\nContent-Type: text/plain\n\n${older}`
  const mail = `${headers}Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\n${newest}\n\nOn 2 May 2024, Bob wrote:\n> ${older}\n--b\nContent-Type: message/rfc822\nContent-Disposition: attachment; filename="before.eml"\n\n${inner}\n--b--\n`
  const { sections } = await extract({ name: 'a.eml', bytes: utf8(mail.replaceAll('\n', '\r\n')) })
  expect(sections).toMatchObject([{ text: newest }, { heading: 'before.eml', text: older }])
  expect(sections).toHaveLength(2)
})

test('a mailbox has each mail under its subject, sender and date, and no message twice', async () => {
  const mail = (from: string, subject: string, day: number, text: string): string =>
    `From ${from} Fri May  ${day} 10:00:00 2024\nFrom: ${from}\nTo: all@x.org\nSubject: ${subject}\nDate: ${day} May 2024 10:00:00 +0000\nMessage-ID: <${day}@x.org>\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n\n${text}\n\n`
  const box =
    mail('bob@x.org', 'Car park', 2, `${older}\n>From the start it was said that it would.`) +
    mail(
      'ann@x.org',
      'Re: Car park',
      3,
      `${newest}\n\nOn 2 May 2024, Bob wrote:\n> ${older}\n> From the start it was said that it would.`,
    )
  const file = await extract({ name: 'archive', bytes: utf8(box) })
  expect(file.mediaType).toBe('application/mbox')
  expect(file.sections).toEqual([
    { heading: 'Car park, bob@x.org, 2024-05-02', text: `${older}\nFrom the start it was said that it would.` },
    { heading: 'Re: Car park, ann@x.org, 2024-05-03', text: newest },
  ])
  expect(new Date(file.updatedAt ?? 0).toISOString()).toBe('2024-05-03T10:00:00.000Z')
})
