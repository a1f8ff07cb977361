//! Advice as a folder: one page, Markdown, tables and figures as files, and the experiments.

use std::io::Write as _;
use std::path::Path;

use maud::{Markup, PreEscaped, html};

use super::{AdviceRun, AdviceSource, AdviceSummary, Section, recommendation};
use bookahead_report::format::inline::{self, code, label, text};
use bookahead_report::format::{Markdown, TableFormat as _};
use bookahead_report::html::{self, Panels, SCRIPT, document, script, table_html};
use bookahead_report::section::ReportError;
use bookahead_report::statistics::EXPLAINED;
use bookahead_report::svg;
use bookahead_report::write::Folder;

const STYLE: &str = "#answers{margin:8px 0 0;padding:0;list-style:none;display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));gap:10px}\
#answers li{background:var(--card);border:1px solid var(--line);border-left:6px solid var(--link);border-radius:6px;padding:6px 12px;min-width:0;overflow-wrap:anywhere}\
#answers a{font-weight:600}#answers p{margin:2px 0 0;font-size:14px}.said{font-size:17px;max-width:110ch;margin:4px 0 8px}\
#recommendations{margin:6px 0;padding-left:26px;max-width:110ch}#recommendations li{margin:0 0 8px;font-size:16px}\
#recommendations a{font-weight:600}#recommendations p{margin:2px 0 0}main p,code{overflow-wrap:anywhere}summary{max-width:100%}h3{margin-top:14px}@media (max-width:600px){#answers p{font-size:13px}.said{font-size:15px}}";

const BRACKETS: &str = "Square brackets are 95 % intervals over weeks of submission: how far the mean of other weeks like these may be. \
    A mean without brackets has weeks that are too few for one, or do not differ.";

/// Everything that has an experiment.
fn runs<'s>(source: &'s AdviceSource<'_>) -> impl Iterator<Item = &'s AdviceRun> {
    [&source.planning, &source.queue, &source.predictions]
        .into_iter()
        .chain(source.reservation.as_ref().ok())
        .chain(&source.ties)
}

fn title(source: &AdviceSource<'_>) -> String {
    format!("Advice from {}", source.label)
}

/// What went wrong, where something did.
fn failures(source: &AdviceSource<'_>) -> Option<String> {
    let failed: Vec<String> = runs(source)
        .filter(|run| run.failed > 0)
        .map(|run| format!("{} points of {}", run.failed, run.name))
        .collect();
    (!failed.is_empty()).then(|| {
        format!(
            "{} failed and are not in the numbers; bookahead show says why.",
            failed.join(", ")
        )
    })
}

/// Writes the folder.
pub(super) fn write(
    source: &AdviceSource<'_>,
    sections: &[Section<'_>],
    out: &Path,
) -> Result<AdviceSummary, ReportError> {
    let mut folder = Folder::new(out)?;
    for section in sections {
        for table in &section.tables {
            folder.table(table)?;
        }
        for figure in &section.figures {
            folder.figure(figure)?;
        }
    }
    for run in runs(source) {
        folder.file(&run.file, |target| target.write_all(run.text.as_bytes()))?;
    }
    folder.file("advice.md", |target| {
        write_markdown(source, sections, target)
    })?;
    let text = html_page(source, sections);
    let page = folder.file("index.html", |target| target.write_all(text.as_bytes()))?;
    let kept = folder.finish()?;
    let answers = sections.iter();
    Ok(AdviceSummary {
        page,
        kept,
        recommendations: recommendation::of(sections),
        answers: answers
            .map(|section| (section.question.clone(), section.answer.trim().to_owned()))
            .collect(),
    })
}

fn html_page(source: &AdviceSource<'_>, sections: &[Section<'_>]) -> String {
    let styles = format!("{}\n{}\n{STYLE}", html::STYLE, svg::style("figure"));
    let title = title(source);
    let body = html! {
        body { "\n"
            header { "\n"
                div.bar {
                    h1 { (title) }
                    button id="theme" type="button" { "Dark mode" }
                } "\n"
                @if let Some(failures) = failures(source) { p.banner { (failures) } "\n" }
                @if let Some(first) = sections.first() {
                    p.said id="explained" { strong { a href={ "#" (first.id) } { (first.question) } } " " (first.short()) } "\n"
                }
                h2 id="recommended" { "What to do" } "\n"
                @let recommendations = recommendation::of(sections);
                @if recommendations.is_empty() { p.said { (recommendation::NONE) } "\n" }
                ol id="recommendations" { "\n"
                    @for one in &recommendations {
                        li {
                            a href={ "#" (one.section) } { (one.what) }
                            p { (with_code(&one.effect)) } p.note { (with_code(&one.how)) }
                        } "\n"
                    }
                } "\n"
                h2 { "What was asked" } "\n"
                ol id="answers" { "\n"
                    @for section in sections.iter().skip(1) {
                        li { a href={ "#" (section.id) } { (section.question) } p { (section.short()) } } "\n"
                    }
                } "\n"
                @for sentence in &source.sampled { p.note { (sentence) } "\n" }
                p.note { (BRACKETS) " This page again: " code { (source.command) } } "\n"
                p.note { (EXPLAINED) } "\n"
            } "\n"
            main { "\n"
                @for section in sections { (section_html(section)) }
                section id="experiments" { "\n"
                    h2 { "The experiments" } "\n"
                    p.note { "Change a copy and run it with " code { "bookahead run FILE" } "; they are in the folder of this page." } "\n"
                    @for run in runs(source) {
                        details { summary { (run.file) } button type="button" class="copy" { "copy" } pre { (run.text) } } "\n"
                    }
                } "\n"
            } "\n"
            div id="tip" role="status" hidden {} "\n"
            (script(SCRIPT))
        }
    };
    document(&format!("{title} – bookahead"), &styles, &body)
}

fn section_html(section: &Section<'_>) -> Markup {
    html! {
        section id=(section.id) { "\n"
            h2 { (section.question) } "\n"
            p.said { (with_code(section.answer.trim())) } "\n"
            p.note { (with_code(&section.method)) } "\n"
            @if !section.figures.is_empty() {
                div.figures { "\n" @for panels in Panels::of(&section.figures) { (panels.html(false)) } } "\n"
            }
            @for table in &section.tables {
                h3 { (table.title) } "\n"
                (table_html(table))
            }
            p.note { (made_by(section)) " " code { (section.command) } } "\n"
        } "\n"
    }
}

/// Text in which what stands between backticks is code.
fn with_code(text: &str) -> Markup {
    PreEscaped(inline::with_code(
        text,
        |plain| html! { (plain) }.into_string(),
        |code| html! { code { (code) } }.into_string(),
    ))
}

/// Which experiment the numbers come from, before the command that shows them.
fn made_by(section: &Section<'_>) -> String {
    match section.run {
        Some(run) => format!("Experiment {}, file {}. Its points:", run.name, run.file),
        None => "The same again:".to_owned(),
    }
}

fn write_markdown(
    source: &AdviceSource<'_>,
    sections: &[Section<'_>],
    target: &mut Vec<u8>,
) -> std::io::Result<()> {
    writeln!(target, "# {}\n", text(&title(source)))?;
    if let Some(failures) = failures(source) {
        writeln!(target, "**{}**\n", inline::sentence(&failures))?;
    }
    if let Some(first) = sections.first() {
        let (question, answer) = (&first.question, first.short());
        writeln!(
            target,
            "**{}** {}\n\n# What to do\n",
            inline::sentence(question),
            inline::sentence(answer)
        )?;
    }
    let recommendations = recommendation::of(sections);
    if recommendations.is_empty() {
        writeln!(target, "{}", recommendation::NONE)?;
    }
    for (number, one) in (1..).zip(&recommendations) {
        writeln!(
            target,
            "{number}. **{}** {} {}",
            inline::sentence(&one.what),
            inline::sentence(&one.effect),
            inline::sentence(&one.how)
        )?;
    }
    writeln!(target, "\n# What was asked\n")?;
    for section in sections.iter().skip(1) {
        let (question, answer) = (&section.question, section.short());
        writeln!(
            target,
            "* **{}** {}",
            inline::sentence(question),
            inline::sentence(answer)
        )?;
    }
    writeln!(target)?;
    for sentence in &source.sampled {
        writeln!(target, "{}\n", inline::sentence(sentence))?;
    }
    writeln!(
        target,
        "{BRACKETS} This page again: {}\n\n{EXPLAINED}\n",
        code(&source.command)
    )?;
    let markdown = Markdown::default();
    for section in sections {
        writeln!(target, "# {}\n", inline::sentence(&section.question))?;
        writeln!(target, "{}\n", inline::sentence(section.answer.trim()))?;
        if !section.method.is_empty() {
            writeln!(target, "{}\n", inline::sentence(&section.method))?;
        }
        for figure in &section.figures {
            writeln!(
                target,
                "![{}](plots/{}.svg)\n",
                label(&figure.title),
                figure.name
            )?;
        }
        for table in &section.tables {
            markdown.write(table, target)?;
        }
        writeln!(
            target,
            "{} {}\n",
            text(&made_by(section)),
            code(&section.command)
        )?;
    }
    Ok(())
}
