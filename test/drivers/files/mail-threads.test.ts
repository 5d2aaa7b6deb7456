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
const older = 'Does anybody know yet how the barrier will open from June on?'

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
      'To: all@x.org\nSubject: Car park',
    ],
    [
      'Outlook, in German',
      `${newest}\n\n________________________________\nVon: Bob Ray\nGesendet: Donnerstag, 2. Mai 2024 14:14\nAn: Alle\nBetreff: Parkplatz\n\n${older}\n`,
      'Bob Ray, Donnerstag, 2. Mai 2024 14:14',
      'An: Alle\nBetreff: Parkplatz',
    ],
    [
      'a mail that is passed on',
      `${newest}\n\n---------- Forwarded message ---------\nFrom: Bob Ray <bob@x.org>\nDate: Thu, May 2, 2024 at 2:14 PM\nSubject: Car park\nTo: <all@x.org>\n\n${older}\n`,
      'Bob Ray <bob@x.org>, Thu, May 2, 2024 at 2:14 PM',
      'Subject: Car park\nTo: <all@x.org>',
    ],
    [
      'an answer below the quote',
      `On 2 May 2024 14:14, Bob wrote:\n> ${older}\n\n${newest}\n`,
      'On 2 May 2024 14:14, Bob wrote:',
    ],
    ['a quote without its author', `${newest}\n\n> ${older}\n`, 'Earlier message'],
    [
      'a header below a sentence that ends in "wrote:"',
      `${newest}\n\nFrom: Bob Ray <bob@x.org>\nSent: 2 May\nTo: Ann\n\n${older}`,
      'Bob Ray <bob@x.org>, 2 May',
      'To: Ann',
      'Please see what the customer wrote:',
    ],
  ])('%s', async (_name, text, heading, header?: string, last?: string) => {
    const body = last === undefined ? text : text.replace(newest, `${newest}\n\n${last}`)
    expect(await partsOf(body)).toEqual([
      [undefined, last === undefined ? newest : `${newest}\n\n${last}`],
      [heading, header === undefined ? older : `${header}\n\n${older}`],
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
      ['Bob Ray, Thursday, May 2, 2024', `**To:** all@x.org\n**Subject:** Car park\n\n${older}`],
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

  test.each([
    [
      'answers between quotes that begin with a header',
      `Hi Ann,\n\n> From: Ann\n> Sent: Thursday\n> To: Bob\n> Subject: Price\n>\n> Is it 5?\n\nYes, 5.\n\n> And delivery?\n\nTuesday.`,
    ],
    ['a booking', `From: Berlin\nTo: Hamburg\nDate: 12 May\nPrice: 89 EUR`],
    [
      'a message that begins with an attribution',
      `On 12 March 2026 the regulator wrote:\nAnswer within two weeks.\n\nWe must answer by Friday.`,
    ],
  ])('%s', async (_name, text) => {
    expect(await partsOf(text)).toEqual([[undefined, text]])
  })

  test('short answers of several people', async () => {
    expect(await partsOf(`Yes.\n\nOn 2 May 2024, Bob wrote:\n> Yes.\n>\n> On 1 May 2024, Cy wrote:\n>> Yes.`)).toEqual([
      [undefined, 'Yes.'],
      ['On 2 May 2024, Bob wrote:', 'Yes.'],
      ['On 1 May 2024, Cy wrote:', 'Yes.'],
    ])
  })
})

describe('no line is lost', () => {
  test('a mail that is passed on without a word keeps its sender, date and subject', async () => {
    const text = `-----Original Message-----\nFrom: Bob Ray\nSent: Thursday\nTo: all@x.org\nSubject: Car park\n\n${older}`
    expect(await partsOf(text)).toEqual([['Bob Ray, Thursday', `To: all@x.org\nSubject: Car park\n\n${older}`]])
  })

  test('lines of a form that looks like a header', async () => {
    const text = `From: Ann Lee <ann@example.com>\nPhone: 0171 123\nDate: 3 May\nSubject: Order 4711 broken\n\nPlease send a new one.`
    expect(await partsOf(text)).toEqual([
      ['Ann Lee <ann@example.com>, 3 May', 'Phone: 0171 123\nSubject: Order 4711 broken\n\nPlease send a new one.'],
    ])
  })

  test('a header alone', async () => {
    expect(await partsOf(`${newest}\n\nFrom: Bob <bob@x.org>\nSent: 2 May\nSubject: The gate is open`)).toEqual([
      [undefined, newest],
      ['Bob <bob@x.org>, 2 May', 'Subject: The gate is open'],
    ])
  })

  test('an attribution above a header', async () => {
    const text = `${newest}\n\nOn 2 May 2024, Cy wrote:\n\nFrom: Bob <bob@x.org>\nSent: 1 May\nTo: Cy\n\n${older}`
    expect(await partsOf(text)).toEqual([
      [undefined, newest],
      ['Bob <bob@x.org>, 1 May', `On 2 May 2024, Cy wrote:\nTo: Cy\n\n${older}`],
    ])
  })

  test('a thread of more messages than are told apart', async () => {
    const lines = Array.from({ length: 60 }, (_, at) => `On ${at} May Ann wrote:\nMessage number ${at} of the thread.`)
    const said = (await partsOf([newest, ...lines].join('\n\n'))).flat().join('\n')
    for (const at of lines.keys()) expect(said).toContain(`Message number ${at} of`)
  })
})

test.each([
  ['attributions', 'On 1 May Ann wrote:\n'.repeat(10_000)],
  ['brackets', '['.repeat(400_000)],
  ['links without end', '[a]('.repeat(100_000)],
])('many %s are read in a moment', async (_name, text) => {
  const start = performance.now()
  await partsOf(text)
  expect(performance.now() - start).toBeLessThan(3000)
})

test('an attached mail is not repeated by the quote of it', async () => {
  const inner = `From: Bob <bob@x.org>\nTo: all@x.org\nSubject: Car park\nDate: Thu, 2 May 2024 14:14:00 +0200\nMIME-Version: 1.0\nContent-Type: text/plain\n\n${older}`
  const mail = `${headers}Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\n${newest}\n\nOn 2 May 2024, Bob wrote:\n> ${older}\n--b\nContent-Type: message/rfc822\nContent-Disposition: attachment; filename="before.eml"\n\n${inner}\n--b--\n`
  const { sections } = await extract({ name: 'a.eml', bytes: utf8(mail.replaceAll('\n', '\r\n')) })
  expect(sections).toMatchObject([{ text: newest }, { heading: 'before.eml', text: older }])
  expect(sections).toHaveLength(2)
})

test('a mailbox is refused with what to do', async () => {
  const box = 'From x@x.org Fri May  3 10:00:00 2024\nFrom: x@x.org\nSubject: Hours\n\nHi.\n'
  await expect(extract({ name: 'archive.mbox', bytes: utf8(box) })).rejects.toThrow('export its mails as .eml')
})
